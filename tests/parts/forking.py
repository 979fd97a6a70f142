"""Run the program in forks of a process that has loaded it: a program costs 5 ms of CPU instead of 300 to 1,000.

    with Program("listen", "--count", "1") as program:
        url = program.stdout.readline()
        program.send_signal(SIGINT)
        out, err = program.communicate()
        assert program.returncode == 0

A fork is a process like any other: it has its own arguments, environment, working folder, streams and signals. Three
things differ: its modules are loaded, they are not freed at its end, and its command line in `/proc` is that of this
file. Tests about the start of the program, about the modules it loads or about its command line use `subprocess`.

The process that forks is started at the first use and ends with the test run. It has one thread, so forking it is safe.
It accepts a connection for each program, which is the handle of the program: it receives the arguments and the streams,
sends the process id and then the exit status, and reaps the process when the connection is closed.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn, Self, TextIO

import inspector
from inspector.cli.main import main

SECONDS = 20.0
_LARGEST_REQUEST = 1_000_000


class Process:
    """A running fork; `returncode` is negative for a signal, as in `subprocess`."""

    def __init__(
        self,
        words: tuple[str, ...],
        streams: tuple[int, int, int],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        new_session: bool = False,
    ) -> None:
        """Start the program; with a new session, stdin becomes its terminal."""
        self.returncode: int | None = None
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(_server())
        request = {
            "words": words,
            "env": dict(os.environ if env is None else env),
            "cwd": str(cwd or Path.cwd()),
            "new_session": new_session,
        }
        socket.send_fds(self._connection, [json.dumps(request).encode() + b"\n"], streams)
        self._answers = self._connection.makefile("rb", buffering=0)  # what a buffer holds is not seen by select
        self.pid = int(self._answers.readline())

    def poll(self) -> int | None:
        """Return the exit status, None if the program is running."""
        return self._status(0)

    def wait(self, timeout: float = SECONDS) -> int:
        """Wait for the end of the program."""
        status = self._status(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the program has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End the program."""
        self.send_signal(signal.SIGKILL)

    def close(self) -> None:
        """Kill the program if it is running, and free its process id."""
        self.kill()
        self.wait()
        self._answers.close()
        self._connection.close()

    def _status(self, timeout: float) -> int | None:
        if self.returncode is None and select.select([self._connection], [], [], timeout)[0]:
            self.returncode = int(self._answers.readline())
        return self.returncode


class Program(Process):
    """A fork with pipes as its streams, which are text in UTF-8."""

    def __init__(self, *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> None:
        (stdin, own_in), (own_out, stdout), (own_err, stderr) = os.pipe(), os.pipe(), os.pipe()
        self.stdin: IO[str] = os.fdopen(own_in, "w", encoding="utf-8")
        self.stdout: IO[str] = os.fdopen(own_out, encoding="utf-8")
        self.stderr: IO[str] = os.fdopen(own_err, encoding="utf-8")
        try:
            super().__init__(words, (stdin, stdout, stderr), env=env, cwd=cwd)
        finally:
            for stream in (stdin, stdout, stderr):
                os.close(stream)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        for stream in (self.stdin, self.stdout, self.stderr):
            with suppress(BrokenPipeError):
                stream.close()

    def communicate(self, text: str = "", timeout: float = SECONDS) -> tuple[str, str]:
        """Write to stdin and close it, wait for the end, and return what is left of stdout and stderr."""
        read: dict[str, str] = {}
        threads = [
            threading.Thread(target=lambda name=name: read.update({name: getattr(self, name).read()}), daemon=True)
            for name in ("stdout", "stderr")
        ]
        for thread in threads:
            thread.start()
        with suppress(BrokenPipeError):  # the program has ended
            self.stdin.write(text)
            self.stdin.close()
        deadline = time.monotonic() + timeout
        self.wait(timeout)
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():  # a process that the program has started keeps the pipe open
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return read["stdout"], read["stderr"]


@cache
def _server() -> str:
    """Start the process that forks, and return the path of its socket."""
    folder = tempfile.TemporaryDirectory()
    path = f"{folder.name}/socket"
    command = [sys.executable, __file__, path]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    atexit.register(folder.cleanup)
    atexit.register(process.communicate)  # it ends when its stdin does
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return path


def _serve(path: str) -> None:
    """Fork for each connection, and report the end of each fork, until stdin ends."""
    for module in pkgutil.walk_packages(inspector.__path__, "inspector."):
        if not module.name.startswith("inspector.mcp_server") and not module.name.endswith("__main__"):
            import_module(module.name)
    assert threading.active_count() == 1, "a fork has only one of the threads, but all of their locks"
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    wake_up, ended = os.pipe()
    os.set_blocking(ended, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ended)
    os.write(1, b"ready\n")
    running: dict[socket.socket, int] = {}
    reported: set[int] = set()
    while True:
        for ready in select.select([0, wake_up, listener, *running], [], [])[0]:
            if ready == 0:
                for pid in running.values():
                    os.kill(pid, signal.SIGKILL)
                return
            if ready == wake_up:
                os.read(wake_up, 4096)
                _report(running, reported)
            elif ready is listener:
                connection, _ = listener.accept()
                if pid := _fork(connection):
                    running[connection] = pid
                    connection.sendall(f"{pid}\n".encode())
            else:
                pid = running.pop(ready)
                ready.close()
                os.kill(pid, signal.SIGKILL)  # it has ended, unless the test run was killed
                os.waitpid(pid, 0)
                reported.discard(pid)


def _report(running: dict[socket.socket, int], reported: set[int]) -> None:
    """Send the exit status of each fork that has ended."""
    for connection, pid in running.items():
        result = None if pid in reported else os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if result is not None:
            reported.add(pid)
            status = result.si_status if result.si_code == os.CLD_EXITED else -result.si_status
            connection.sendall(f"{status}\n".encode())


def _fork(connection: socket.socket) -> int:
    """Fork, and run the program in the new process; return only in the old one, 0 if the client has ended."""
    request, streams, _, _ = socket.recv_fds(connection, _LARGEST_REQUEST, 3)
    while not request.endswith(b"\n"):
        more = connection.recv(_LARGEST_REQUEST)
        if not more:
            for stream in streams:
                os.close(stream)
            return 0
        request += more
    pid = os.fork()
    if pid == 0:
        _become(json.loads(request), streams)
        _end(main())
    for stream in streams:
        os.close(stream)
    return pid


def _become(request: dict[str, Any], streams: list[int]) -> None:
    """Give this process the streams, the environment, the arguments and the signals of a new program."""
    if request["new_session"]:
        os.setsid()
        fcntl.ioctl(streams[0], termios.TIOCSCTTY, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.environ.clear()
    os.environ.update(request["env"])
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__ = _text_streams()
    os.chdir(request["cwd"])
    sys.argv = ["a2a-inspect", *request["words"]]


def _end(status: int) -> NoReturn:
    """End as Python does at its end, but free only what was made after the fork.

    To free the rest costs more than most programs: it copies the memory of the process that forks.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    gc.collect()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(status)  # Python reports it
    os._exit(status)


def _text_streams() -> tuple[TextIO, TextIO, TextIO]:
    """Open the streams as Python does at its start."""
    out = 1 if os.environ.get("PYTHONUNBUFFERED") else -1
    return (
        os.fdopen(0, closefd=False),
        os.fdopen(1, "w", buffering=out, closefd=False),
        os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False),
    )


if __name__ == "__main__":
    _serve(sys.argv[1])
