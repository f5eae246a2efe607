"""What a topic is: a module, or an object, that brings contenders into contests of its own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Protocol, cast

from bench.contender import Limit
from bench.measure import Contest, Effort

Contests = Generator[tuple[str, Contest], None, None]
"Groups by name with their contests; the contenders of one live until the next is asked for, or it is closed."


class Topic(Protocol):
    """Groups that belong together."""

    @property
    def GROUPS(self) -> Mapping[str, str]:  # noqa: N802 - a module's constants are written so
        """The groups by name, and what time of each is measured."""

    @property
    def BASELINE(self) -> str:  # noqa: N802
        """The contender that others are compared with."""

    @property
    def OWN(self) -> Sequence[str]:  # noqa: N802
        """The contenders that are Penstock."""

    @property
    def LIMITS(self) -> Sequence[Limit]:  # noqa: N802
        """What must hold for `python -m bench` to succeed."""

    def contests(self, groups: Sequence[str], effort: Effort, /) -> Contests:
        """The contests of these groups."""


Loader = Callable[[], Topic]


def _module(name: str) -> Topic:
    return cast("Topic", import_module(f"bench.{name}"))


def _scenes(target: str) -> Topic:
    from bench.scenes import Scenes

    return Scenes(target)


_MODULES = (
    "pages",
    "gets",
    "transitions",
    "saves",
    "copying",
    "migrating",
    "beside_migration",
    "jobs",
    "pickup",
    "live",
    "tasks",
    "service",
    "processes",
    "speech",
    "musicvideo",
    "assetcreator",
    "encoding",
    "transcoding",
    "views",
    "catalogue",
    "spectra",
    "spectra_memory",
    "novae",
    "console",
    "console_growth",
    "console_live",
)

# Each is imported by itself, so that one that cannot be imported keeps no other from being measured.
TOPICS: Mapping[str, Loader] = {
    **{target: partial(_scenes, target) for target in ("dynamodb-http", "dynamodb-tls", "sqlite", "postgresql")},
    **{name: partial(_module, name) for name in _MODULES},
}
