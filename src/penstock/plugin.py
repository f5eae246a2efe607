"""What a domain brings with it: its records; if it is a whole system, all else that a service runs and people use.

A package registers its plugin under the entry-point group ``penstock.domains``, by the domain's name:

    [project.entry-points."penstock.domains"]
    films = "films:PLUGIN"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from penstock.cost.printed_figure import PrintedFigure
from penstock.declare.console_hints import ConsoleHints as ConsoleHints
from penstock.declare.console_hints import ConsolePage as ConsolePage
from penstock.declare.console_hints import ProjectList as ProjectList
from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.declare.setting import Setting
from penstock.errors import DeclarationError, Misconfigured
from penstock.events.feed import Feed
from penstock.events.handover import Handler
from penstock.events.pushed_feed import PushedFeed
from penstock.events.schedule import Period, Schedule
from penstock.kernel.store import Store
from penstock.lifecycle.retention import Retention
from penstock.operations.feed_entry import FeedEntry
from penstock.operations.plan import PlanStep
from penstock.operations.reads import Query, Ref
from penstock.ports.deployment import open_deployment
from penstock.review.reviewable import Reviewable
from penstock.schema.role import Role
from penstock.work.domain_context import DomainContext
from penstock.work.pipeline import Pipeline
from penstock.work.registry import Tasks


@dataclass(frozen=True, slots=True)
class FeedHandler:
    """What is done for each insert, update or removal of an entity's records, whoever made it (see `Feed`)."""

    entity: type[Entity]
    kinds: Sequence[str]
    "insert, update, remove."
    handle: Handler
    cause: str | None = None
    "Only of this cause: user, or expiry."
    when: Callable[[FeedEntry], bool] | None = None
    "Only these: what it is false for costs nothing."


@dataclass(frozen=True, slots=True)
class NeedsYou:
    """Records that wait for a person: a pattern with its arguments, such as ``Film.by_status(status=Status.DOUBTED)``.

    Where the time matters, as of what is about to expire, it is a function of the present that gives the pattern.
    """

    query: Query[Any] | Callable[[datetime], Query[Any]]
    title: str
    "What they are, as people say it: Datasets in quarantine."
    why: str = ""
    "What a person is to do about them."
    least: Role = Role.EDITOR
    "Who may do that; nobody below is told of them."
    of_project: Callable[[str], Query[Any]] | None = None
    "The pattern that finds those of one project, if there is one; without, those of others are passed over."
    look_at: Callable[[Store, Any], Ref[Any] | None] | None = None
    "The record that is looked at to decide about one of them, where that is another."

    def asked(self, now: datetime, project: str | None) -> Query[Any]:
        """What finds them."""
        if project is not None and self.of_project is not None:
            return self.of_project(project)
        return self.query if isinstance(self.query, Query) else self.query(now)


@dataclass(frozen=True, slots=True)
class QuotaStanding:
    """How much of a quota somebody uses, and how much they may."""

    quota: str
    whose: str
    used: int
    limit: int
    unit: str
    helps: str = ""
    "What frees some of it."
    record: Ref[Any] | None = None
    "Whose it is, where more of it can be allowed."


class CommandContext(Protocol):
    """What the command line gives to a domain's commands."""

    def tell(self, line: str) -> None:
        """Say a line, as it is."""
        ...

    def console(self) -> Any:
        """Where people read: a console of rich, for tables and progress."""
        ...

    def writable(self, path: Path) -> Path:
        """A file that can be written, known before the work for it is begun."""
        ...

    def working(
        self, *, store: str | None = None, objects: str | None = None, settings: Mapping[str, str] | None = None
    ) -> AbstractContextManager[DomainContext]:
        """The system at work: its tables are there and its tasks are run, until the command is over.

        What is said here goes before the settings of the deployment; ``settings`` are those of the domain. Interrupted,
        it hands back at once what runs, so that whoever comes next goes on.
        """
        ...

    def opened(self, *, store: str | None = None, objects: str | None = None) -> AbstractContextManager[DomainContext]:
        """The system as it stands: its tables are there, and nothing is begun."""
        ...

    def setting(self, variable: str) -> str | None:
        """What the deployment has said of one of the domain's settings."""
        ...

    def service_url(self) -> str:
        """Where the service of this deployment is reached while it runs."""
        ...


@dataclass(frozen=True, slots=True)
class FileExpiry:
    """Files that the object store itself may remove, so many days after they came: where nothing of ours does."""

    prefix: str
    days: int


Commands = Callable[[CommandContext], Mapping[str, Callable[..., Any]]]
"Functions with arguments as Typer reads them, or whole Typer applications, by the words after ``penstock``."


@dataclass(frozen=True, slots=True)
class DomainPlugin:
    """A domain as a service runs it."""

    domain: Domain
    tasks: Tasks | None = None
    schedules: Callable[[DomainContext], Sequence[Schedule]] | None = None
    "What is due by the clock."
    routes: Callable[[DomainContext], Any] | None = None
    "A router of its own, beside the routes that every domain has."
    advice: Callable[[str, Callable[[str], str | None]], Sequence[PlanStep]] | None = None
    "What it asks of whoever keeps the object store at a URL, given its own settings."
    settings: Sequence[Setting] = ()
    "What a deployment may choose about it. It can read no other."
    feed: Callable[[DomainContext], Sequence[FeedHandler]] | None = None
    "What follows the changes of records, one event after the other, under the domain's name."
    retention: str | None = None
    """When records that were kept for their time (`RetainFor`, `KeepLatest`) are archived and removed: cron, in UTC.
    Without it only `penstock retention run` does so."""
    pipelines: Sequence[Pipeline[Any, Any]] = ()
    "Its jobs of several steps; their tasks are among its tasks."
    actions: Mapping[str, str] = field(default_factory=dict)
    "What people do in it besides creating and moving records: each by its name, with what it does."
    commands: Commands | None = None
    'Commands of its own, such as "say" or "demo films".'
    console: ConsoleHints | None = None
    reviews: Sequence[Reviewable] = ()
    "How people look at its records and decide about them; of what is not named, the declaration tells."
    needs_you: Sequence[NeedsYou] = ()
    "What waits for a person, beside the reviews of its pipelines."
    quotas: Callable[[DomainContext, str | None], Sequence[QuotaStanding]] | None = None
    "How the quotas of a project stand, or of all together (None); few, as each is read whenever somebody looks."
    file_expiries: Callable[[Callable[[str], str | None]], Sequence[FileExpiry]] | None = None
    "Which files the object store itself removes in time, given its own settings."
    printed_costs: Sequence[PrintedFigure] = ()
    "What its documents say that it takes and costs, beside what it does."

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise DeclarationError(f"a DomainPlugin begins with a Domain, not with {type(self.domain).__name__}")
        name = self.domain.name
        if self.tasks is not None and not isinstance(self.tasks, Tasks):
            raise DeclarationError(f"the tasks of {name} are the Tasks they were declared with, not {self.tasks!r}")
        for part, given in {"schedules": self.schedules, "routes": self.routes, "feed": self.feed}.items():
            if given is not None and not callable(given):
                raise DeclarationError(f"{part} of {name} is a function of its DomainContext, not {given!r}")
        if self.retention is not None:
            Schedule(f"{name}-retention", self.retention, "retention", overdue=timedelta(days=3660))
        if self.pipelines and self.tasks is None:
            raise DeclarationError(f"{name} has pipelines and no tasks; give it the Tasks they were made with")
        if self.console is not None:
            self.console.check(self.domain)
        for each in self.reviews:
            if each.entity not in self.domain.entities:
                raise DeclarationError(f"{each.entity.__name__} is reviewed in {name}, but is no record of it")
        own = {entity.__shape__ for entity in self.domain.entities}
        for need in self.needs_you:
            if isinstance(need.query, Query) and need.query.pattern.entity not in own:
                raise DeclarationError(f"{name}: {need.title!r} asks by {need.query.pattern.label}, of another domain")

    def all_schedules(self, context: DomainContext) -> list[Schedule]:
        """What is due by the clock, retention among it."""
        own = list(self.schedules(context)) if self.schedules is not None else []
        return [*own, *self.retention_schedules(context)]

    def retention_schedules(self, context: DomainContext) -> list[Schedule]:
        """When its retention is carried out; what was missed meanwhile is due all the same, once."""
        if self.retention is None:
            return []
        task = partial(_let_leave, self.domain, context)
        return [Schedule(f"{self.domain.name}-retention", self.retention, task, catch_up="one")]

    def open_feed(self, context: DomainContext, *, owner: str) -> Feed | None:
        """What follows the changes of records; any number of processes may, and one at a time is at work."""
        handlers = self.feed(context) if self.feed is not None else ()
        if not handlers:
            return None
        feed = Feed(context.store, self.domain.name, owner=owner)
        for each in handlers:
            feed.on(each.entity, *each.kinds, cause=each.cause, when=each.when)(each.handle)
        return feed


Delivered = Callable[[Mapping[str, Any], object], dict[str, Any]]


def delivery_function(plugin: DomainPlugin) -> Delivered:
    """A function that a cloud calls with changes of a domain's records, as AWS Lambda does with those of a stream.

    They reach the handlers of the domain's feed. Its answer names the changes that are to be brought again. What it
    works on is what the environment says, and is opened when it is first called.
    """
    opened: list[PushedFeed] = []

    def lambda_handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:
        """Deal with the changes in an event; the answer names those that are to be brought again."""
        if not opened:
            opened.append(_pushed_feed(plugin))
        return {"batchItemFailures": [{"itemIdentifier": receipt} for receipt in opened[0].take(event)]}

    return lambda_handler


def _pushed_feed(plugin: DomainPlugin) -> PushedFeed:
    feed = plugin.open_feed(open_deployment(plugin), owner=f"function:{uuid4()}")
    if feed is None:
        raise Misconfigured(f"{plugin.domain.name} has nothing that follows changes")
    return feed.pushed()


def _let_leave(domain: Domain, context: DomainContext, period: Period) -> None:
    if context.archive is None:
        raise Misconfigured(f"there is no archive for what leaves {domain.name}; set PENSTOCK_ARCHIVE")
    Retention(context.store, context.archive, [domain], owner="retention", objects=context.objects).run()


def own_settings(installed: Iterable[DomainPlugin], found: Mapping[str, str]) -> Callable[[str], str | None]:
    """What was found of the settings that domains declare. To ask for another is a mistake: nobody could know of it."""
    known = {s.variable for each in installed for s in each.settings}

    def setting(name: str) -> str | None:
        if name not in known:
            raise DeclarationError(f"{name} is a setting of no domain; add it to the settings of its DomainPlugin")
        return found.get(name) or None

    return setting
