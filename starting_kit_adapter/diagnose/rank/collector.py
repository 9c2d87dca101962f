"""The process that reads the models to rank, one after the other.

    python -m starting_kit_adapter.diagnose.rank.collector CHANNEL

CHANNEL is that of `ingestion.processes`. It is sent an `Order`; it answers with what the data are,
or why they cannot be used, and then for each model with a `Member` or why there is none. A None in
between shows that it is still running.
"""

from __future__ import annotations

import sys

from ingestion.errors import first_line
from ingestion.processes import connect_to_parent
from pgdl_measures.errors import PgdlError
from pgdl_measures.ranking.concerns import chance_accuracy
from scoring.errors import ScoringError
from starting_kit_adapter.diagnose.rank.collecting import Facts, Order


def main(channel: str) -> None:
    """Answers one order."""
    from ingestion.quiet import import_tensorflow

    connection = connect_to_parent(channel)
    import_tensorflow()
    from ingestion.datasets.sources import load_source
    from ingestion.zoo.layout import Zoo
    from starting_kit_adapter.diagnose.rank.collection import Collection

    order: Order = connection.recv()
    try:
        data = load_source(
            order.source, order.image_size, scale="none", need_test=False, images_only=False
        )
        collection = Collection(
            Zoo(order.root), data, order.scale, order.custom, lambda: connection.send(None)
        )
        with collection.zoo.locked():
            collection.check()
            chance = chance_accuracy(data.train.labels, data.classes)
            connection.send(Facts(data.shape, chance, len(data.train)))
            for name, path in order.paths.items():
                try:
                    connection.send(collection.member(name, path))
                except (PgdlError, ScoringError) as error:
                    connection.send(str(error))
                except Exception as error:  # of a layer of the user's, or of TensorFlow
                    connection.send(f"{path}: {type(error).__name__}: {first_line(error)}")
    except (PgdlError, ScoringError) as error:
        connection.send(str(error))


if __name__ == "__main__":
    main(sys.argv[1])
