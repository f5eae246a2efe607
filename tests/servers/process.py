"""Start a server process, wait until it answers, and be sure that it ends."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

# Below the range the kernel gives to outgoing connections (32768 and up on Linux). From inside that range a
# client could take the port of a server that is down for a restart, and a client polling a closed port can
# even connect to itself.
PORTS = range(20_000, 32_000)

POLL_SECONDS = 0.01
STOP_SECONDS = 20.0
TAIL_LINES = 30


class StartFailed(RuntimeError):
    """A server is installed but did not come up; the message ends with what it wrote to stderr."""


def free_port() -> int:
    """Return a port of 127.0.0.1 that nothing listens on."""
    for _ in range(100):
        # Not `random`: test tools seed it, and then every xdist worker would try the same ports.
        port = secrets.choice(PORTS)
        with socket.socket() as candidate, suppress(OSError):
            candidate.bind(("127.0.0.1", port))
            return port
    raise StartFailed(f"no free port found in {PORTS}")


def is_open(port: int) -> bool:
    """Tell whether something on 127.0.0.1 accepts connections on this port."""
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0


def dying_with_parent(command: Sequence[str], *, on_death: signal.Signals, user: str | None) -> list[str]:
    """Wrap a command so that it gets a signal when this process dies and, when asked, runs as another user.

    `setpriv` asks the kernel for the signal (PR_SET_PDEATHSIG) after changing the user, which would clear it,
    and spares us Python code between fork and exec. The kernel sends the signal when the starting *thread*
    ends, so a server started outside the main thread goes without: stop() or the interpreter's exit ends it.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return list(command)
    wrapped = [setpriv]
    if user is not None:
        wrapped += [f"--reuid={user}", "--regid=nogroup", "--clear-groups"]
    if threading.current_thread() is threading.main_thread():
        wrapped += ["--pdeathsig", on_death.name.removeprefix("SIG")]
    return [*wrapped, "--", *command] if len(wrapped) > 1 else list(command)


class Process:
    """One started process, its stdout and stderr in a log file."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        *,
        on_death: signal.Signals = signal.SIGKILL,
        user: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._log = log
        self._name = Path(command[0]).name
        with log.open("ab") as output:
            self._popen = subprocess.Popen(
                dying_with_parent(command, on_death=on_death, user=user),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=log.parent,
                env=environment,
                # Ctrl-C in the terminal is for pytest, whose fixtures then stop the servers in order.
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def running(self) -> bool:
        return self._popen.poll() is None

    def wait_until(self, answers: Callable[[], bool], *, seconds: float) -> None:
        """Return once the probe succeeds; if the process ends or time runs out first, kill it and raise."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not self.running:
                raise StartFailed(self._failure(f"ended with exit code {self._popen.returncode}"))
            if answers():
                return
            time.sleep(POLL_SECONDS)
        self.kill()
        raise StartFailed(self._failure(f"did not answer within {seconds:g} s"))

    def finish(self, *, seconds: float) -> None:
        """Return once the process has ended with exit code 0; otherwise raise, with it ended."""
        try:
            self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise StartFailed(self._failure(f"did not end within {seconds:g} s")) from None
        finally:
            self.kill()
        if self._popen.returncode != 0:
            raise StartFailed(self._failure(f"ended with exit code {self._popen.returncode}"))

    def stop(self, with_signal: signal.Signals) -> None:
        """Ask the process to end, wait until it has, and kill it if it takes too long."""
        if not self.running:
            return
        self._popen.send_signal(with_signal)
        try:
            self._popen.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill the process and its children with SIGKILL, as a crash of the machine would, and wait."""
        if not self.running:
            return
        # Frozen first, so that it cannot start another child between the listing and the killing.
        self._popen.send_signal(signal.SIGSTOP)
        children = list(_children(self.pid))
        for pid in (self.pid, *children):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._popen.wait()
        while any(_alive(pid) for pid in children):
            time.sleep(POLL_SECONDS)

    def _failure(self, what: str) -> str:
        lines = self._log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
        return "\n  ".join([f"{self._name} {what}; the end of its output:", *(lines or ["(nothing)"])])


def _children(pid: int) -> Iterator[int]:
    """Yield the direct children of a process; none where there is no /proc."""
    with suppress(FileNotFoundError):
        yield from map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def _alive(pid: int) -> bool:
    """Tell whether a process still runs; a zombie nobody has collected yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}
