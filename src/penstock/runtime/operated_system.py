"""An operated system: all that its domains bring, together, and what operators have done in the background.

Bulk runs, schedules that are run now, dry runs and verified trails are tasks like any other: each has progress, is
taken up by another worker when one dies, and leaves a result that can be read for as long as the task is remembered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel

from penstock.errors import InvalidValue
from penstock.events.feed import Feed
from penstock.events.schedule import Schedule, Scheduler
from penstock.kernel.audit import AuditLine, SystemAudit
from penstock.kernel.outbox import Message, SystemMessage
from penstock.plugin import DomainPlugin
from penstock.ports.worker_name import worker_name
from penstock.runtime.dry_run import dry_retention, dry_sweep
from penstock.runtime.record_titles import RecordTitles
from penstock.runtime.verified_trails import verified_trails
from penstock.work.bulk_kinds import Settling
from penstock.work.bulk_run import declare_bulk
from penstock.work.context import TaskContext
from penstock.work.domain_context import DomainContext
from penstock.work.errors import Terminal
from penstock.work.pipeline import Pipeline
from penstock.work.registry import Retry, Tasks
from penstock.work.working import WORKING

_LONG = timedelta(hours=6)
_TWICE = Retry(attempts=2)


class ScheduleInput(BaseModel):
    schedule: str
    by: str


class DryRunInput(BaseModel):
    what: Literal["retention", "sweep"]


class VerifyInput(BaseModel):
    project: str | None = None


@dataclass
class OperatedSystem:
    """A system as its operators have it."""

    installed: Sequence[DomainPlugin]
    context: DomainContext

    def __post_init__(self) -> None:
        self.owner = worker_name()
        self.own = Tasks(WORKING.name)
        self.bulk = declare_bulk(self.own, self.settling)
        self._declare_schedule()
        self._declare_dry_run()
        self._declare_verification()

    @cached_property
    def settling(self) -> Settling:
        """What can be settled in bulk."""
        return Settling([*self._of_domains, self.own], self.outboxes, lambda: self.feeds, self.pipelines)

    @property
    def tasks(self) -> list[Tasks]:
        """What can be done in the background: by domains, and for operators."""
        return [*self._of_domains, self.own]

    @property
    def _of_domains(self) -> list[Tasks]:
        return [i.tasks for i in self.installed if i.tasks is not None]

    @cached_property
    def schedules(self) -> list[Schedule]:
        """What is due by the clock, retention among it."""
        return [s for i in self.installed for s in i.all_schedules(self.context)]

    @cached_property
    def pipelines(self) -> Mapping[str, Pipeline[Any, Any]]:
        """Jobs of several steps, by the names of their pipelines."""
        return {p.name: p for i in self.installed for p in i.pipelines}

    @cached_property
    def titles(self) -> RecordTitles:
        """What records are called where people read of them."""
        return RecordTitles(self.installed)

    @cached_property
    def outboxes(self) -> list[type[Message]]:
        """The kernel's outbox, and those of domains that document their own."""
        return outboxes_of(self.installed)

    @cached_property
    def trails(self) -> list[type[AuditLine]]:
        """The kernel's kind of audit line, and those of domains that document their own."""
        return trails_of(self.installed)

    @cached_property
    def feeds(self) -> dict[str, Feed]:
        """What hands changes of records over again, by the domain it is of."""
        opened = {i.domain.name: i.open_feed(self.context, owner=self.owner) for i in self.installed}
        return {name: feed for name, feed in opened.items() if feed is not None}

    def _declare_schedule(self) -> None:
        @self.own.task("run_schedule", retry=Retry(attempts=1), limit=_LONG)
        def run_schedule(work: TaskContext, input: ScheduleInput) -> dict[str, Any]:
            run = Scheduler(work.store, self.schedules, owner=self.owner).run_now(input.schedule, by=input.by)
            if run.outcome != "done":
                raise Terminal(f"{run.schedule}: {run.outcome}, {run.error}")
            return {"since": run.period.since.isoformat(), "until": run.period.until.isoformat()}

        self.run_schedule = run_schedule

    def _declare_dry_run(self) -> None:
        domains = [*(i.domain for i in self.installed), WORKING]

        @self.own.task("dry_run", retry=_TWICE, limit=_LONG)
        def dry_run(work: TaskContext, input: DryRunInput) -> dict[str, Any]:
            if input.what == "sweep":
                return dry_sweep(self.context, domains, owner=self.owner)
            return dry_retention(self.context, domains, owner=self.owner)

        self.dry_run = dry_run

    def _declare_verification(self) -> None:
        @self.own.task("verify_audit", retry=_TWICE, limit=_LONG)
        def verify_audit(work: TaskContext, input: VerifyInput) -> dict[str, Any]:
            return verified_trails(work.store, self.trails, self.context.archive, project=input.project)

        self.verify_audit = verify_audit


def outboxes_of(installed: Sequence[DomainPlugin]) -> list[type[Message]]:
    """The kernel's outbox, and those of domains that document their own."""
    own = [i.domain.outbox for i in installed]
    return list(dict.fromkeys([SystemMessage, *(o for o in own if o is not None and issubclass(o, Message))]))


def trails_of(installed: Sequence[DomainPlugin]) -> list[type[AuditLine]]:
    """The kernel's kind of audit line, and those of domains that document their own."""
    own = [i.domain.audit for i in installed]
    return list(dict.fromkeys([SystemAudit, *(a for a in own if a is not None and issubclass(a, AuditLine))]))


def known_schedule(schedules: Sequence[Schedule], name: str) -> Schedule:
    """A schedule by its name; InvalidValue when there is none."""
    found = next((s for s in schedules if s.name == name), None)
    if found is None:
        there = ", ".join(s.name for s in schedules) or "none"
        raise InvalidValue(f"there is no schedule {name!r}; there are: {there}")
    return found
