"""The worker process: a fresh interpreter that takes jobs from a pipe and measures them.

    python -m ingestion.run.executors.worker CHANNEL THREADS

CHANNEL is that of `ingestion.processes`: the worker ends when its parent does.
"""

from __future__ import annotations

import faulthandler
import sys

from ingestion.processes import connect_to_parent
from ingestion.run import fingerprint
from ingestion.run.executors.outcome import Ready


def main(channel: str, threads: int) -> None:
    """Serves until the parent closes the connection."""
    faulthandler.enable(all_threads=False)  # a crash prints its stack
    connection = connect_to_parent(channel)
    import tensorflow as tf

    # The sums of TensorFlow depend in their last bits on the number of threads of an operation, so
    # that number is fixed; how many operations run side by side changes no result.
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    from ingestion.run.executors.measuring import Measuring

    measuring = Measuring()
    connection.send(Ready(_versions()))
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        for message in measuring.run(job):
            connection.send(message)


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
    main(sys.argv[1], int(sys.argv[2]))
