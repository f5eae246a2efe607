"""Scenes that are read and written on one target: Penstock, next to the clients and drivers that others use there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import dynamodb_peers, items, penstock_contenders, sql_peers
from bench.canned_server import canned_server
from bench.contender import OPERATIONS, Canned, Contender, Database, Limit, Target, work
from bench.measure import Effort, contest
from bench.topic import Contests
from tests.servers import Postgres


class Scenes:
    """One topic for each target."""

    OWN = (penstock_contenders.NAME,)

    def __init__(self, target: str) -> None:
        self._target = target
        self.GROUPS: Mapping[str, str] = {f"{target}.{operation}": "client CPU" for operation in OPERATIONS}
        self.BASELINE = sql_peers.BASELINES.get(target, dynamodb_peers.BASELINE)

    @cached_property
    def LIMITS(self) -> Sequence[Limit]:  # noqa: N802
        return [limit for limit in penstock_contenders.LIMITS if limit.group in self.GROUPS]

    def contests(self, groups: Sequence[str], effort: Effort) -> Contests:
        """Check every contender, then give one operation after the other."""
        with ExitStack() as stack:
            contenders = _contenders(stack.enter_context(_opened(self._target)))
            wanted = [contender for contender in contenders if effort.wants(contender.name)]
            for contender in wanted:
                contender.setup()
                stack.enter_context(closing(contender))
                check(contender)
            for operation in OPERATIONS:
                if (group := f"{self._target}.{operation}") in groups:
                    yield group, contest({each.name: work(each, operation) for each in wanted}, effort)


def _contenders(target: Target) -> list[Contender]:
    peers = dynamodb_peers.contenders(target) if isinstance(target, Canned) else sql_peers.contenders(target)
    return [*peers, *penstock_contenders.contenders(target)]


@contextmanager
def _opened(target: str) -> Iterator[Target]:
    """A target, up only while it is measured."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        if target == "sqlite":
            yield Database("sqlite", f"sqlite:///{folder}/bench.sqlite", Path(folder))
        elif target == "postgresql":
            server = stack.enter_context(Postgres())
            yield Database("postgresql", server.url.replace("postgresql:", "postgresql+psycopg:"), Path(folder))
        else:
            plain, secure = stack.enter_context(_trusted_server())
            yield plain if target == plain.name else secure


@contextmanager
def _trusted_server() -> Iterator[tuple[Canned, Canned]]:
    """The canned server, with its authority where clients look that cannot be told otherwise."""
    before = dict(os.environ)
    with canned_server() as both:
        os.environ["SSL_CERT_FILE"] = os.environ["AWS_CA_BUNDLE"] = str(both[0].authority)
        # Nothing here leaves the machine, whatever proxy it has.
        os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
        try:
            yield both
        finally:
            # Others must not be told to trust a file that is gone.
            os.environ.clear()
            os.environ.update(before)


def check(contender: Contender) -> None:
    """Refuse to measure a contender that does not read and write the scenes it should."""
    expected = {"get": [1], "query": range(1, items.SCENES + 1)}
    found = {"get": [contender.get()], "query": contender.query()}
    for operation, sequences in expected.items():
        records = [contender.plain(record) for record in found[operation]]
        scenes = [items.fields(sequence) for sequence in sequences]
        if len(records) != len(scenes) or not all(map(items.same, records, scenes)):
            raise AssertionError(f"{contender.name}: {operation} gives other scenes, such as {records[:1]}")
    for draft in items.drafts():
        contender.put()
        if not items.same(written := contender.written(), draft):
            raise AssertionError(f"{contender.name}: put has left {written}")
