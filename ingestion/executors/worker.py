"""The worker process: a fresh interpreter that takes jobs from a pipe and measures them.

    python -m ingestion.executors.worker FILE_DESCRIPTOR THREADS

It ends when its parent does, however that ended: standard input is a pipe that the parent alone
holds open, and a thread waits for its end.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
from multiprocessing.connection import Connection

from ingestion import fingerprint
from ingestion.executors.outcome import Ready


def main(descriptor: int, threads: int) -> None:
    """Serves until the parent closes the pipe."""
    faulthandler.enable(all_threads=False)  # a crash says where it was
    threading.Thread(target=_end_with_parent, daemon=True).start()
    connection: Connection = Connection(descriptor)
    import tensorflow as tf

    # The sums of TensorFlow depend in their last bits on the number of threads of an operation, so
    # that number is fixed; how many operations run side by side changes no result.
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    from ingestion.executors.measuring import Measuring

    measuring = Measuring()
    connection.send(Ready(_versions()))
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        for message in measuring.run(job):
            connection.send(message)


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def _versions() -> dict[str, str]:
    import keras
    import numpy as np
    import tensorflow as tf

    return {
        "pgdl": fingerprint.toolkit_version(),
        "tensorflow": tf.__version__,
        "keras": keras.__version__,
        "numpy": np.__version__,
        "python": sys.version.split()[0],
    }


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
