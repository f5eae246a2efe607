"""Five hundred records by their keys, in one call: what that costs among few records and among many (see `sizes`).

The keys are as somebody has them who has read some lists: ten neighbours each, from fifty places all over the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from bench.contender import Limit
from bench.measure import Effort, Work
from bench.pages import NOW
from bench.scene import DOMAIN, Scene
from bench.sizes import contests_by_size
from bench.topic import Contests
from penstock import Store
from penstock.engines.sql.engine import SqlEngine
from penstock.kernel.layouts.evolving_engine import by_layouts

GROUPS = {"sqlite-gets.many": "client CPU", "postgresql-gets.many": "client + server CPU"}
SMALL, LARGE = "1,000 records", "1,000,000 records"
BASELINE = SMALL
OWN = (SMALL, LARGE)
LIMITS = tuple(
    Limit(f"{group}: 500 records by key cost the same at 1,000 and at 1,000,000", group, LARGE, SMALL, 1.2)
    for group in GROUPS
)
SIZES = {SMALL: 1_000, LARGE: 1_000_000}
AT_ONCE = 500
"Records that are asked for, and scenes of each project."
NEIGHBOURS = 10
_NAMED = "'00000000-0000-0000-0000-' || "


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """Fill one store with few records and one with many, then read from each in turn."""
    return contests_by_size(groups, effort, SIZES, _getter, least=2 * AT_ONCE)


def _getter(store: Store, size: int) -> Work:
    store.ensure(DOMAIN)
    projects = size // AT_ONCE
    store.put_many(_scene(sequence) for sequence in range(1, AT_ONCE + 1))
    engine = by_layouts(store.engine).beneath
    assert isinstance(engine, SqlEngine)
    _multiply(engine, projects)
    apart = projects * AT_ONCE // (AT_ONCE // NEIGHBOURS)
    numbers = [first + n for first in range(0, projects * AT_ONCE, apart) for n in range(NEIGHBOURS)]
    keys = [Scene.at(project_id=UUID(int=n // AT_ONCE), sequence=1 + n % AT_ONCE) for n in numbers]
    assert len(keys) == AT_ONCE

    def get(times: int) -> None:
        for _ in range(times):
            assert None not in store.get_many(keys)

    return get


def _scene(sequence: int) -> Scene:
    return Scene(
        project_id=UUID(int=0),
        sequence=sequence,
        prompt="Robot exploring Austin, Texas",
        duration=5.0,
        created_at=NOW,
        updated_at=NOW,
    )


def _multiply(engine: SqlEngine, projects: int) -> None:
    """Give the scenes of the first project to all others: a million records are not made one by one."""
    statements, connector = engine.statements(Scene.__shape__), engine.connector
    postgres = connector.dialect.schemas
    named = f"({_NAMED}lpad(to_hex(n), 12, '0'))::uuid" if postgres else f"{_NAMED}printf('%012x', n)"
    columns = [statements.column(name) for name in statements.shape.fields]
    others = ", ".join(columns[1:])
    connector.run(
        f"with recursive s (n) as (select 1 union all select n + 1 from s where n < {projects - 1}) "
        f"insert into {statements.relation} ({statements.bare_columns}) "
        f"select {named}, {others} from s cross join {statements.relation} as r",
        (),
    )
    connector.run("analyze", ())
