"""What a contender is, where it runs, and what may be claimed of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from bench.measure import Work

Operation = Literal["get", "put", "query"]
OPERATIONS: tuple[Operation, ...] = ("get", "put", "query")


@dataclass(frozen=True)
class Canned:
    """The canned DynamoDB server, reached over one of its two ports."""

    name: str
    endpoint: str
    authority: Path
    "The certificate authority to trust; SSL_CERT_FILE and AWS_CA_BUNDLE name it as well."
    region: str = "us-east-1"
    access_key: str = "AKIDEXAMPLE"
    secret_key: str = "no-secret-but-forty-characters-like-one-0"
    table: str = "MVProjects"


@dataclass(frozen=True)
class Database:
    """A SQL database in which each contender makes its own tables, or files beside it.

    The peers use the table `scenes`; on SQLite they run in WAL mode with `synchronous = normal`.
    """

    name: Literal["sqlite", "postgresql"]
    url: str
    "As SQLAlchemy spells it."
    directory: Path
    "A scratch folder that lives as long as the run."


Target = Canned | Database


class Contender(Protocol):
    """One way of reading and writing scenes."""

    @property
    def name(self) -> str:
        """What the tables call it."""

    def setup(self) -> None:
        """Connect, and store `items.fields(1)` to `items.fields(100)` where the target does not hold them."""

    def get(self) -> object:
        """Read scene 1 of `items.PROJECT` by its key."""

    def put(self) -> None:
        """Write and commit the next of the two `items.drafts()`, the first one first."""

    def query(self) -> Sequence[object]:
        """Read the 100 scenes of `items.PROJECT` in order."""

    def close(self) -> None:
        """Let go of what setup took."""

    def plain(self, record: object) -> Mapping[str, object]:
        """A record of get or query under the names of `items.fields`: for the check before measuring only."""

    def written(self) -> Mapping[str, object]:
        """What the last put has left in the store, likewise; on a Canned target `canned_server.last_put`."""


@runtime_checkable
class Repeats(Protocol):
    """A contender that loops by itself, as an asynchronous one should, inside its event loop."""

    def repeat(self, operation: Operation, times: int) -> None:
        """Do the operation this many times."""


@dataclass(frozen=True)
class Limit:
    """A claim about a contender in a group such as `dynamodb-http.get`: its ratio to another, or its value."""

    claim: str
    group: str
    contender: str
    against: str | None
    "None: the limit is in microseconds, or in another unit."
    limit: float
    unit: str = "µs"
    "Of a limit that is no ratio."


def work(contender: Contender, operation: Operation) -> Work:
    """The loop around one operation."""
    if isinstance(contender, Repeats):
        repeats = contender
        return lambda times: repeats.repeat(operation, times)
    call = getattr(contender, operation)

    def loop(times: int) -> None:
        for _ in range(times):
            call()

    return loop
