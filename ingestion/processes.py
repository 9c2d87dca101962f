"""Child processes that never outlive their parent, and whose own children never outlive them.

A child is a fresh interpreter, `python -m MODULE CHANNEL ARGUMENTS…`, in a session of its own, so
that Ctrl-C reaches the parent alone. CHANNEL names two file descriptors that it inherits:

- a connection to the parent, over which both send messages;
- a lifeline, a pipe that only the parent holds open. It closes when the parent ends, however that
  happens, and the child then ends itself. Where it cannot, because code that never returns lets no
  other thread of Python run, a shell beside it ends it a moment later.

A process that the child started may leave its session (`setsid`) and so escape a signal to it. On
Linux such processes are found by a variable of their environment, which they inherit.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

_FAMILY = "PGDL_PROCESS_FAMILY"  # the environment variable that marks a child and its descendants
_ROUNDS = 20  # of looking for descendants, which may start others meanwhile
_TAIL = 2000  # characters kept of what a child wrote

# In the group of the child, but no child of it, for which it might wait: ends the group, itself
# included, after the lifeline has closed. The child has a second to end what has left the group.
_GUARD = "exec 3<&0; { read -r nothing <&3; sleep 1; kill -s KILL 0; } &"

_PROC = Path("/proc")


class ChildProcess:
    """A running child; `close` ends it and everything that it started."""

    def __init__(
        self,
        module: str,
        arguments: Sequence[str] = (),
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        output: Log | None = None,
    ) -> None:
        """Starts it, in this environment and folder by default; `output` takes what it prints."""
        self._family = secrets.token_hex(16)
        self._lock, self._closed = threading.Lock(), False
        ours, theirs = socket.socketpair()
        held, lifeline = os.pipe()
        self.connection: Connection = Connection(ours.detach())
        self._lifeline: int | None = lifeline
        channel = f"{theirs.fileno()},{held}"
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, channel, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=None if output is None else output.fileno(),
                stderr=None if output is None else output.fileno(),
                pass_fds=(theirs.fileno(), held),
                cwd=folder,
                env={**(os.environ if environment is None else environment), _FAMILY: self._family},
                start_new_session=True,
            )
        except BaseException:
            self._let_go()
            raise
        finally:
            theirs.close()
            os.close(held)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def exit_code(self, seconds: float = 0.0) -> int | None:
        """The exit code, negative for a signal; None if it still runs after so many seconds."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def memory(self) -> int:
        """The resident memory of the child in bytes (Linux only); 0 if it has just ended."""
        return resident_memory(self.pid)

    def kill(self) -> None:
        """Kills the child and all that it started. May be called by another thread."""
        with self._lock:
            if not self._closed:
                _kill_session(self.pid)
                _kill_escaped(self.pid, self._family)

    def close(self) -> None:
        """Kills the child and waits for its end."""
        self.kill()
        with self._lock:  # once it is reaped, its process id may be reused
            self._closed = True
        self._process.wait()
        self._let_go()

    def _let_go(self) -> None:
        self.connection.close()
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None


class Log:
    """What a child prints, in a file of which only the end is read."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()

    def fileno(self) -> int:
        """For `subprocess`."""
        return self._file.fileno()

    def clear(self) -> None:
        """Discards what was printed so far; a child continues at the beginning of the file."""
        os.ftruncate(self.fileno(), 0)
        os.lseek(self.fileno(), 0, os.SEEK_SET)

    def tail(self) -> str:
        """The end of what was printed, without a crash's list of all modules."""
        size, length = os.fstat(self.fileno()).st_size, 16 * _TAIL
        text = os.pread(self.fileno(), length, max(0, size - length)).decode(errors="replace")
        lines = [line for line in text.splitlines() if not line.startswith("Extension modules:")]
        return "\n".join(lines).strip()[-_TAIL:]

    def close(self) -> None:
        """Deletes the file."""
        self._file.close()


def connect_to_parent(channel: str) -> Connection:
    """The child's end of the connection; from now on the child ends when its parent does."""
    connection, lifeline = map(int, channel.split(","))
    for descriptor in (connection, lifeline):
        os.set_inheritable(descriptor, False)  # not for processes that the child starts
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()
    null = subprocess.DEVNULL
    subprocess.run(["/bin/sh", "-c", _GUARD], stdin=lifeline, stdout=null, stderr=null, check=True)
    return Connection(connection)


def import_paths() -> str:
    """A `PYTHONPATH` with which a child finds every module that this process can import."""
    return os.pathsep.join(path or os.getcwd() for path in sys.path)


def cause_of_end(code: int | None) -> str:
    """Why a child ended, in words; `None` is a child that lives but closed its connection."""
    if code is None:
        return "the worker closed its pipe"
    if code >= 0:
        return f"the worker ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:  # a real-time signal
        name = f"signal {-code}"
    hint = ", as the system does when memory runs out" if name == "SIGKILL" else ""
    return f"the worker was ended by {name}{hint}"


def _end_with_parent(lifeline: int) -> None:
    os.read(lifeline, 1)  # returns when the parent's end is closed
    _kill_escaped(os.getpid(), os.environ.get(_FAMILY, ""))
    _kill_session(os.getpid())
    os._exit(1)  # where it leads no session


def _kill_session(leader: int) -> None:
    """A session id is not reused while any process of the session lives."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # none of them is alive
        os.killpg(leader, signal.SIGKILL)


def _kill_escaped(leader: int, family: str) -> None:
    """Kills the processes of a family that have left the session of its leader."""
    mark = f"{_FAMILY}={family}".encode()
    for _ in range(_ROUNDS if _PROC.is_dir() and family else 0):
        found = [pid for pid in _outside(leader) if mark in _environment(pid)]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _outside(leader: int) -> Iterator[int]:
    """All processes of other sessions."""
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended
                if os.getsid(int(entry.name)) != leader:
                    yield int(entry.name)


def _environment(pid: int) -> bytes:
    try:
        return (_PROC / str(pid) / "environ").read_bytes()
    except OSError:  # ended, or of another user
        return b""


def resident_memory(pid: int) -> int:
    """The resident bytes of a process; 0 where it has ended, or the system has no `/proc`."""
    try:
        pages = (_PROC / str(pid) / "statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def memory_refusal() -> str | None:
    """Why memory cannot be limited on this system; None where it can."""
    if Path("/proc/self/statm").exists():
        return None
    return "a memory limit needs /proc, which only Linux has"


def gigabytes(count: int) -> str:
    """Bytes as a message says them."""
    return f"{count / 1024**3:.2f} GB"
