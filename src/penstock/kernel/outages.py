"""Which parts of the system are away, as this process knows it: one lookout for each, beside the store it works on.

Every loop of a process asks here what to make of an error. The failure of one of our own parts is sat out: it costs no
attempt, leaves no letter, and is logged once for all.
"""

from __future__ import annotations

from collections.abc import Callable
from secrets import randbelow
from threading import Event

from penstock.errors import OBJECTS, STORE, outage_in
from penstock.kernel.handle import StoreHandle
from penstock.kernel.lease import NamedLease
from penstock.net.outage import FIRST, LONGEST, Lookout
from penstock.ports.object_store import Objects

_NAME = "readiness"
LOOK = 0.5
"Seconds between looks whether a part is to be asked."


class Outages:
    """The lookouts of one process. Threads may share it."""

    def __init__(self, store: StoreHandle) -> None:
        self._clock = store.clock
        self._lookouts: dict[str, Lookout] = {}
        self.store = self.lookout(STORE, probe=lambda: ask_store(store))

    def lookout(
        self, part: str, *, probe: Callable[[], object] | None = None, first: float = FIRST, longest: float = LONGEST
    ) -> Lookout:
        """That of a part; what asks it may be told later than the first failure."""
        lookout = self._lookouts.get(part)
        if lookout is None:
            made = Lookout(part, first=first, longest=longest, monotonic=self._clock.monotonic)
            lookout = self._lookouts.setdefault(part, made)
        if probe is not None:
            lookout.probe = probe
        return lookout

    def watch_objects(self, objects: Objects) -> None:
        """Have the files asked by writing one: a full disk goes on answering those who read."""
        own = getattr(objects, "lookout", None)
        if isinstance(own, Lookout) and self._lookouts.get(OBJECTS) is not own:
            own.keep_time_by(self._clock.monotonic)
            self._lookouts[OBJECTS] = own
        self.lookout(OBJECTS, probe=lambda: ask_objects(objects))

    @property
    def away(self) -> frozenset[str]:
        """The parts that were asked and did not answer."""
        return frozenset(part for part, lookout in self._lookouts.items() if lookout.away)

    @property
    def parts(self) -> dict[str, tuple[bool, bool]]:
        """Every part that is looked out for: whether it is away, and whether somebody has met a failure of it since."""
        return {part: (lookout.away, lookout.doubted) for part, lookout in self._lookouts.items()}

    def met(self, error: BaseException) -> str | None:
        """The part of ours whose failure an error tells of, which is in doubt from now on; None for any other error."""
        found = outage_in(error)
        if found is None or found.part is None:
            return None
        self.lookout(found.part).failed(found)
        return found.part

    def sit_out(self, error: BaseException, stop: Event) -> bool:
        """Wait until the part answers of which an error tells; False at once for any other error."""
        part = self.met(error)
        if part is None:
            return False
        self.lookout(part).wait(stop)
        return True

    def ask(self) -> None:
        """Ask each part that is in doubt, if it is time."""
        for lookout in list(self._lookouts.values()):
            if lookout.doubted and lookout.probe is not None:
                lookout.ask()

    def keep_asking(self, stop: Event) -> None:
        """Ask whatever is in doubt until told to stop, so that nobody who works has to."""
        while not stop.wait(LOOK):
            self.ask()


def outages_of(store: StoreHandle) -> Outages:
    """Those of the process that works on a store: the same for all handles of it."""
    known = store.context.known(__name__)
    found: Outages | None = known.get("all")
    return known.setdefault("all", Outages(store)) if found is None else found


def ask_store(store: StoreHandle) -> None:
    """Write a small record, always at the same place; Unavailable, or what else is wrong, if that cannot be done."""
    store.lookup(NamedLease.at(name=_NAME))
    # Another number each time: SQLite does not write what stands there already.
    store.put(NamedLease(name=_NAME, lease_epoch=randbelow(2**31)))


def ask_objects(objects: Objects) -> None:
    """Write a small file and remove it."""
    own = getattr(objects, "probe", None)
    if own is not None:
        own()
        return
    name = f"penstock-{_NAME}"
    objects.put(name, b"can anything be written?")
    objects.delete([name])
