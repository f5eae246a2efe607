"""The sessions of one process with one database: at most so many, whichever role they have.

Whoever finds one at rest takes it, the last that was given back first. Whoever finds none opens one while there are
fewer than the limit, and else waits in turn for a while. Nobody waits for a session while holding another, so that no
two ever wait for each other. What was at rest for long is closed when another is given back.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import Event, Lock

from penstock.engines.sql.session import Session
from penstock.errors import Busy
from penstock.net.per_process import watch

Role = str | None
"As whom a session works; None: as the user of the URL."

_PATIENCE = 10.0
"Seconds: what a session is needed for takes thousandths of one, unless the database itself is stuck."
_REST = 60.0
"Seconds at rest after which a session is closed."


class _Turn:
    """Somebody who waits: for a session, or for the place of one."""

    __slots__ = ("called", "role", "session")

    def __init__(self, role: Role) -> None:
        self.role = role
        self.called = Event()
        self.session: Session | None = None
        "What was at rest, perhaps of another role; None: a place where one can be opened."


class SessionPool:
    """Takes care that there are never more sessions than ``most``; ``connect`` opens one of a role."""

    def __init__(
        self,
        connect: Callable[[Role], Session],
        *,
        most: int,
        patience: float = _PATIENCE,
        rest: float = _REST,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most
        self._connect = connect
        self._patience, self._rest, self._now = patience, rest, now
        self._inherited: list[dict[Role, list[Session]]] = []
        self._begin()
        watch(self)

    def _begin(self) -> None:
        self._lock = Lock()
        self._resting: dict[Role, list[Session]] = {}
        self._waiting: deque[_Turn] = deque()
        self._places = self.most
        "How many sessions may still be opened."
        self._look_at = 0.0

    def forked(self) -> None:
        # A forked child must not speak on its parent's sockets, not even to say goodbye.
        self._inherited.append(self._resting)
        self._begin()

    @property
    def count(self) -> int:
        """How many sessions there are, at work and at rest."""
        return self.most - self._places

    def take(self, role: Role) -> Session:
        """A session of a role, which is the caller's until it is kept or lost; Busy if there is none for long."""
        if not self._waiting:  # those who wait come first
            try:
                # Without the lock: a list gives each of its members to one thread only.
                return self._resting[role].pop()
            except (KeyError, IndexError):
                pass
        return self._opened(self._in_turn(role))

    def keep(self, session: Session, role: Role) -> None:
        """Give back a session that still works."""
        session.rests_since = now = self._now()
        try:
            self._resting[role].append(session)
        except KeyError:
            self._resting.setdefault(role, []).append(session)
        # After it is at rest, as whoever waits looks for one after having said so: one of the two sees the other.
        if self._waiting:
            with self._lock:
                self._serve()
        elif now >= self._look_at:
            self._close_old(now)

    def lose(self, session: Session) -> None:
        """Give back the place of a session, which does not work any more."""
        try:
            session.close()
        finally:
            self._free()

    def replace(self, session: Session, role: Role) -> Session:
        """Another session in the place of one that cannot be used."""
        try:
            session.close()
        except BaseException:
            self._free()
            raise
        return self._opened(_Turn(role))

    def close(self, *roles: Role) -> None:
        """Close what is at rest, of these roles or of all."""
        for role in roles or tuple(self._resting):
            while session := self._popped(role):
                self.lose(session)

    # Taking turns

    def _in_turn(self, role: Role) -> _Turn:
        turn = _Turn(role)
        with self._lock:
            self._waiting.append(turn)
            self._serve()
        try:
            called = turn.called.wait(self._patience)
        except BaseException:
            if not self._withdraw(turn):
                self._give_up(turn)
            raise
        if not called and self._withdraw(turn):
            raise Busy(
                f"all {self.most} connections of this process to PostgreSQL were in use for {self._patience:g} s; "
                f"try again, or write connections= with a higher number into the store's URL"
            )
        return turn

    def _serve(self) -> None:
        """Call those who wait, while there is something for them. The lock is held."""
        while self._waiting:
            turn = self._waiting[0]
            session = self._popped(turn.role)
            if session is None:
                if self._places:
                    self._places -= 1
                else:
                    session = next(filter(None, map(self._popped, tuple(self._resting))), None)
                    if session is None:
                        return
            turn.session = session
            self._waiting.popleft()
            turn.called.set()

    def _withdraw(self, turn: _Turn) -> bool:
        """Wait no longer; False for whoever was called in the last moment, and has what there was for them."""
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return True
        return False

    def _give_up(self, turn: _Turn) -> None:
        """Give back what somebody was called for who cannot use it any more."""
        if turn.session is None:
            self._free()
        else:
            self.keep(turn.session, turn.session.role)

    def _opened(self, turn: _Turn) -> Session:
        """What somebody has waited for, as a session of the right role."""
        session = turn.session
        if session is not None and session.role == turn.role:
            return session
        try:
            if session is not None:
                session.close()
            opened = self._connect(turn.role)
        except BaseException:
            self._free()
            raise
        opened.role = turn.role
        return opened

    def _free(self) -> None:
        """A place is free, for whoever waits first."""
        with self._lock:
            self._places += 1
            self._serve()

    def _popped(self, role: Role) -> Session | None:
        try:
            return self._resting[role].pop()
        except (KeyError, IndexError):
            return None

    def _close_old(self, now: float) -> None:
        """Close what was at rest for long; the newest is never old, as somebody has just given it back."""
        old: list[Session] = []
        with self._lock:
            self._look_at = now + self._rest / 4
            for resting in self._resting.values():
                found = [s for s in resting if s.rests_since <= now - self._rest]
                for session in found:
                    try:
                        resting.remove(session)
                    except ValueError:  # somebody has taken it in this moment
                        continue
                    old.append(session)
        for session in old:
            self.lose(session)
