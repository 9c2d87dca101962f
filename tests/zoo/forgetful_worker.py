"""A worker that finishes one job and ends before it takes the next."""

from __future__ import annotations

import sys

from ingestion.processes import connect_to_parent

if __name__ == "__main__":
    connection = connect_to_parent(sys.argv[1])
    connection.recv()
    connection.send(None)
