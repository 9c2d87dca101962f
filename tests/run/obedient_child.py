"""A child process that does what the word it is given says."""

from __future__ import annotations

import os
import re
import sys
import time

from ingestion.processes import ChildProcess, connect_to_parent


def main(channel: str, word: str) -> None:
    connection = connect_to_parent(channel)
    if word == "echo":
        connection.send(connection.recv())
    elif word == "print":
        while True:
            print("\n".join(f"line {i}" for i in range(100_000)), flush=True)
            connection.send("printed")
            connection.recv()
    else:
        connection.send(grandchild(word))
        if word == "busy":  # for ever, and no other thread of Python's gets a turn
            re.match("(a+)+$", 1000 * "a" + "b")
    time.sleep(3600)


def grandchild(word: str) -> int:
    """The process id of one that was forked, that leads a session, or that nobody waits for."""
    read, write = os.pipe()
    if os.fork() == 0:
        if word in ("setsid", "daemon"):
            os.setsid()
        if word == "daemon" and os.fork() != 0:
            os._exit(0)
        os.write(write, str(os.getpid()).encode())
        time.sleep(3600)
    return int(os.read(read, 20))


def parent(word: str) -> None:
    child = ChildProcess("obedient_child", [word])
    print(child.pid, child.connection.recv(), flush=True)
    time.sleep(3600)


if __name__ == "__main__":
    if sys.argv[1] == "parent":
        parent(sys.argv[2])
    else:
        main(*sys.argv[1:])
