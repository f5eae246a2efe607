"""A run: the actors of a scene take turns, one call at a time, as a schedule has it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from random import Random
from typing import Any, NamedTuple

from penstock.errors import Misconfigured, Unavailable
from penstock.events.feed_records import FeedPlace
from penstock.kernel.lease import NamedLease
from penstock.net.backoff import Backoff
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.simulation.determinism import determined
from penstock.testing.simulation.engine import Touched
from penstock.testing.simulation.outcome import Broken, Outcome, Step
from penstock.testing.simulation.player import Player
from penstock.testing.simulation.process import Call, Death, Process, SimulatedTime
from penstock.testing.simulation.schedule import Decision, Happening, Schedule
from penstock.testing.simulation.world import Invariant, Scene, World
from penstock.work.worker_presence import WorkerPresence

try:
    from greenlet import getcurrent, greenlet
except ImportError:
    raise Misconfigured("greenlet is not installed; run: pip install 'penstock[simulation]'") from None

_STALLED = 4
"So many times nobody has anything to do before one wakes who stood still: longer than any lease."
_UPKEEP = (NamedLease.__shape__, WorkerPresence.__shape__, FeedPlace.__shape__)
"What says only that somebody is still there."
_PAUSES = 200
"So often at most; there is always somebody who notes that he is still there."
_LONGEST = timedelta(days=3650)
"The longest pause, however often nobody had anything to do."
_NOTICED, _MOMENT = 0.1, 1e-5
"Seconds: a shorter sleep takes no time, as others may be slow; and what nobody tells from none."
_ANSWERS = (Happening.CRASH, Happening.LOST_ANSWER, Happening.REFUSAL)


class Standing(NamedTuple):
    """Where a run stands: an actor is about to make a call, and these others could go first."""

    actor: int
    call: int
    what: Call
    others: tuple[int, ...]
    run: Run
    is_steady: bool = False


Chooser = Callable[[Standing], Decision | None]
"Decides what happens at a point; None: the actor goes on."


class Abandoned(Exception):
    """Whoever chooses has seen enough of this run."""


class Run:
    """One run of a scene."""

    def __init__(self, scene: Scene, schedule: Schedule, choose: Chooser) -> None:
        self.scene, self._choose = scene, choose
        self.time = SimulatedTime(scene.at)
        self.engine = scene.engine()
        self.world = World(self.engine, self.time)
        self.outcome = Outcome(schedule.having(()))
        self.pauses = 0
        "How often nobody had anything to do,"
        self._quiet = 0
        "and how often since something was written."
        self._sound = 0
        "How often nobody had anything to do since something happened to somebody, who may have been kept from it."
        self._slept = 0.0
        "Seconds that have passed since the last pause because somebody slept."
        self._written = 0
        "How often something was written that may give others something to do."
        self._seed = schedule.seed
        self._chance = Random(schedule.seed)
        self._players = [Player(n, actor, actor.name) for n, actor in enumerate(scene.actors)]
        self._current = self._players[0]
        self._acting: Player | None = None
        self._over = False
        self._hub: Any = None

    def play(self) -> Outcome:
        """Let all of it happen."""
        self._hub = getcurrent()
        level = logging.root.manager.disable
        logging.disable(logging.CRITICAL)  # what goes wrong here is meant to
        try:
            with determined(
                seed=self._seed, chance=self._chance_now, passed=lambda: self.time.passed, sleep=self._sleep
            ):
                self._begin()
                self._go_on()
        except Abandoned:
            self.outcome.abandoned = True
        finally:
            self._end()
            logging.disable(level)
        return self.outcome

    def _chance_now(self) -> Random:
        process = self._acting.process if self._acting is not None else None
        return self._chance if process is None else process.chance

    def _sleep(self, seconds: float) -> None:
        if self._acting is not None and self._acting.process is not None:
            self._acting.process.at_point(Call("clock", "sleep", seconds), lambda: None)

    def _begin(self) -> None:
        for domain in (SYSTEM_RECORDS, *self.scene.domains):
            self.engine.ensure(domain.shapes)  # not by the store, which would have every run remember its layouts
        self.scene.begin(self.world.store)
        if (knowledge := getattr(self.world.store.engine, "knowledge", None)) is not None:
            knowledge.leave()
        self._look(self.scene.always, tuple(self.engine.journal))

    # Who is next

    def _go_on(self) -> None:
        for _ in range(self.scene.most_steps):
            if self.outcome.broken is not None:
                return
            player = self._next()
            if player is not None:
                self._turn(player)
            elif not self._let_time_pass():
                return self._rest()
        self.outcome.broken = Broken("it never comes to rest", f"after {self.scene.most_steps} steps all go on and on")

    def _next(self) -> Player | None:
        """Whoever was at it, or the next who has something to do."""
        written, begin = self._written, self._current.number
        for player in (*self._players[begin:], *self._players[:begin]):
            if player.is_ready(written):
                self._current = player
                return player
        return None

    def _wake_sleeper(self) -> bool:
        """Let so much time pass that the first wakes who sleeps; False where nobody does.

        Meanwhile the others had nothing to do. They look again once it is as much as in a pause.
        """
        asleep = [p for p in self._players if p.wakes_at is not None and p.waits is None]
        if not asleep:
            return False
        seconds = max(0.0, min(p.wakes_at or 0.0 for p in asleep) - self.time.passed)
        self.time.advance(timedelta(seconds=seconds))
        self._slept += seconds
        for player in asleep:
            if (player.wakes_at or 0.0) <= self.time.passed + _MOMENT:
                player.wakes_at = None
        if self._slept >= self.scene.pause.total_seconds():
            self._slept, self.pauses = 0.0, self.pauses + 1
            self._rouse()
        return True

    def _rouse(self) -> None:
        """Time has passed: let everybody look again, and wake those who have stood still for long enough."""
        for player in self._players:
            player.idle_since = None
            if player.transaction is None and player.waits is not None and player.waits <= self.pauses:
                player.waits = None

    def _let_time_pass(self) -> bool:
        """Nobody has anything to do: those who stood still wake, or time passes; False when nothing will happen."""
        if self._wake_sleeper():
            return True
        held = [
            p for p in self._players if p.transaction is not None and p.waits is not None and p.waits <= self.pauses
        ]
        stalled = [p for p in self._players if p.waits is not None]
        done = self.scene.is_done(self.world)
        if held or (stalled and (done or self.pauses >= min(p.waits or 0 for p in stalled))):
            for player in held or stalled:
                player.waits = None
            return True
        enough = self._quiet >= self.scene.pauses or self.pauses >= _PAUSES
        if done or (enough and self._sound >= min(_STALLED, self.scene.pauses)):
            return False
        # Ever longer, while nothing happens: somebody may wait for a day that another's clock has.
        growing = Backoff(first=self.scene.pause.total_seconds(), longest=_LONGEST.total_seconds(), jitter=0.0)
        pause = timedelta(seconds=growing.bound(1 + (0 if enough else max(0, self._quiet - _STALLED))))
        self.pauses, self._quiet, self._sound = self.pauses + 1, self._quiet + 1, self._sound + 1
        self.time.advance(pause)
        self._tell("time", None, f"{pause} pass")
        self._rouse()
        return True

    # What happens

    def _turn(self, player: Player) -> None:
        decision = None
        if player.call is not None and player.transaction is None:
            others = tuple(p.number for p in self._players if p is not player and p.is_ready(self._written))
            steady = player.actor.steady
            decision = self._choose(Standing(player.number, player.calls, player.call, others, self, steady))
        if decision is None:
            return self._resume(player, None)
        self.outcome.schedule = self.outcome.schedule.having((*self.outcome.schedule.decisions, decision))
        self._decide(player, decision)

    def _decide(self, player: Player, decision: Decision) -> None:
        happening = decision.happening
        if happening is not Happening.SWITCH:
            self._sound = 0
        if happening in _ANSWERS:
            return self._resume(player, happening)
        self._tell(player.name, player.call, happening.words)
        match happening:
            case Happening.SWITCH:
                if decision.number < len(self._players):
                    self._current = self._players[decision.number]
            case Happening.STALL:
                player.waits = self.pauses + (decision.number or _STALLED)
            case Happening.LAG:
                self._resume(player, None, lag=decision.number or 1)
            case Happening.JUMP:
                if player.process is not None:
                    self.world.clocks_set = True
                    player.process.clock.off += timedelta(hours=decision.number)
                self._resume(player, None)
            case Happening.HELD_OPEN:
                self._hold_open(player, decision.number)
            case Happening.SECOND_PROCESS:
                number = len(self._players)
                self._players.append(Player(number, player.actor, f"{player.actor.name}, again"))
                self._resume(player, None)

    def _hold_open(self, player: Player, pauses: int) -> None:
        if player.call is None or player.call.name != "commit":
            return self._resume(player, None)
        player.transaction = self.engine.open_early(player.call.about, now=self.time.now)
        player.waits = self.pauses + pauses

    def _resume(self, player: Player, happening: Happening | None, *, lag: int = 0) -> None:
        """Let an actor make its call, and go on to the next."""
        written, call = len(self.engine.journal), player.call
        self.engine.lag, self.engine.begun, player.transaction = lag, player.transaction, None
        self._acting, player.idle_since = player, None
        if player.stage is None or player.stage.dead:
            player.stage = greenlet(lambda _: self._live(player), parent=self._hub)
        heard = player.stage.switch(happening)
        self._acting, self.engine.lag = None, 0
        player.call = heard if isinstance(heard, Call) else None
        if player.call is not None:
            player.calls += 1
            if player.call.part == "clock" and player.call.about >= _NOTICED:
                player.wakes_at = self.time.passed + player.call.about
        elif heard is _IDLE:
            player.idle_since = -1
        touched = tuple(self.engine.journal[written:])
        if any(t.shape not in _UPKEEP for t in touched):
            self._written, self._quiet = self._written + 1, 0
        if player.idle_since is not None:
            player.idle_since = self._written
        self._tell(player.name, call, happening.words if happening is not None else "", touched)
        self._note_end(player, heard)
        self.world.acting = player.process.name if player.process is not None else None
        self.world.actor = player.number
        self._look(self.scene.always, touched)

    def _note_end(self, player: Player, heard: Any) -> None:
        if isinstance(heard, BaseException):
            self.outcome.broken = Broken(f"{player.name} ends with {type(heard).__name__}", str(heard))

    def _live(self, player: Player) -> Any:
        """What an actor does, life after life; runs on its own stage."""
        player.lives += 1
        player.process = process = self._process(player)
        try:
            turn = player.actor.start(process)
            while True:
                try:
                    did = turn()
                except Unavailable:
                    did = False  # whoever really runs it waits until it is back
                if not did:
                    self._hub.switch(_IDLE)
        except Death:
            return _DEAD
        except Exception as error:
            return error

    def _process(self, player: Player) -> Process:
        name = player.name if player.lives == 1 else f"{player.name} (life {player.lives})"
        return Process(
            name,
            self.engine,
            self.time,
            own=SYSTEM_RECORDS,
            seed=f"{self._seed}:{player.number}:{player.lives}",
            skew=self.scene.skew,
            baton=self._wait,
            outside=self.world.outside,
            objects=self.world.objects,
        )

    def _wait(self, call: Call) -> Happening | None:
        """Called on an actor's stage: stand at a point until it is one's turn."""
        if self._over:
            raise Death
        happening: Happening | None = self._hub.switch(call)
        return happening

    # How it ends

    def _rest(self) -> None:
        self._look(self.scene.at_rest, ())

    def _look(self, invariants: Sequence[Invariant], touched: tuple[Touched, ...]) -> None:
        if self.outcome.broken is not None or (not touched and invariants is self.scene.always):
            return
        self.world.touched = touched
        for invariant in invariants:
            try:
                invariant(self.world)
            except Exception as error:
                why = str(error).partition("\nassert ")[0] if isinstance(error, AssertionError) else repr(error)
                self.outcome.broken = Broken(_words(invariant), why)
                return

    def _end(self) -> None:
        self._over = True
        for player in self._players:
            if player.process is not None:
                player.process.dead = True
            if player.stage is not None and not player.stage.dead:
                player.stage.throw(Death)

    def _tell(self, who: str, call: Call | None, happening: str, touched: tuple[Touched, ...] = ()) -> None:
        self.outcome.steps.append(Step(self.time.passed, who, call, happening, touched))

    def is_doubled(self, number: int) -> bool:
        """Does another process of the same actor act beside this one?"""
        return sum(player.actor is self._players[number].actor for player in self._players) > 1

    def state(self) -> int:
        """The same for two runs that will go on alike, whatever is decided of both."""
        players = tuple(
            (p.heard, p.lives, p.is_ready(self._written), p.waits, p.wakes_at, str(p.call)) for p in self._players
        )
        log = tuple((row.relation, row.kind, row.new and row.new.digest) for row in self.engine.log.rows)
        outside = repr((self.world.outside, self.scene.outside(), self.world.objects.digest))
        time = (self.time.passed, self.pauses, self._quiet, min(self._sound, _STALLED))
        return hash((self.engine.digest, log, outside, time, players, self._current.number))


_IDLE, _DEAD = object(), object()


def _words(invariant: Invariant) -> str:
    """What an invariant says, from its docstring or its name."""
    text = str(invariant.__doc__ or getattr(invariant, "__name__", "an invariant")).strip().splitlines()[0]
    return text.rstrip(".").replace("_", " ")
