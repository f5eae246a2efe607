"""The two dialects. No driver is imported here, so that SQL can be shown without one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from penstock.engines.sql.dialect import Dialect
from penstock.schema.documents import canonical, large_as_floats
from penstock.schema.kinds import Kind, instant_text

_dumps = msgspec.json.Encoder(order="deterministic").encode
_loads = msgspec.json.Decoder().decode


def _compare(kind: Kind, column: str, operator: str) -> str:
    if kind is Kind.DECIMAL:
        return f"decimal_compare({column}, {{m}}) {operator} 0"
    return f"{column} {operator} {{m}}"


def _add(kind: Kind, column: str) -> str:
    return f"decimal_add({column}, ?)" if kind is Kind.DECIMAL else f"integer_add({column}, ?)"


SQLITE = Dialect(
    name="sqlite",
    mark="?",
    rows_taken=frozenset({"sqlite"}),
    schemas=False,
    bind={
        Kind.IDENTIFIER: "to_builtins({x})",
        Kind.CHOICE: "{x}._value_",  # what .value gives, at a fifth of its price
        Kind.DECIMAL: "str({x})",
        Kind.INSTANT: "instant_text({x}, {digits})",
        Kind.DAY: "{x}.isoformat()",
        Kind.FLAG: "int({x})",
        Kind.TEXTS: "dumps(sorted({x})).decode()",
        Kind.DOCUMENT: "dumps({x}).decode()",
    },
    load={
        Kind.IDENTIFIER: "convert({x}, UUID)",
        Kind.CHOICE: "{members}[{x}]",
        Kind.DECIMAL: "canonical(Decimal({x}))",
        Kind.INSTANT: "moment({x})",
        Kind.DAY: "date.fromisoformat({x})",
        Kind.FLAG: "{x} == 1",
        Kind.TEXTS: "frozenset(loads({x}))",
        Kind.DOCUMENT: "loads({x})",
    },
    names={
        "instant_text": instant_text,
        "to_builtins": msgspec.to_builtins,
        "dumps": _dumps,
        "loads": _loads,
        "convert": msgspec.convert,
        "UUID": UUID,
        "Decimal": Decimal,
        "canonical": canonical,
        "moment": datetime.fromisoformat,
        "date": date,
    },
    compare=_compare,
    add=_add,
    append="json_concat({c}, {m})",
    include="json_union({c}, {m})",
    exclude="json_minus({c}, {m})",
    # Asked for rows among rows, SQLite reads the whole table; joined, and in this order, it asks the index.
    many="with k ({n}) as (values {v}) select {c} from k cross join {t} as r on {j}{l}",
    delete_some="delete from {t} where rowid in (select rowid from {t} where {w} limit {m}) returning 1",
    stored="{c}",
    stored_as="{c} is {m}",
    unlike="is not",
    counted=("{u}", "select changes()"),
)

POSTGRES = Dialect(
    name="postgresql",
    mark="%s",
    # Which are texts and numbers, as parameters are on their way; its own rows are values of many types.
    rows_taken=frozenset({"sqlite"}),
    schemas=True,
    bind={
        Kind.CHOICE: "{x}._value_",  # what .value gives, at a fifth of its price
        Kind.TEXTS: "dumps(sorted({x})).decode()",
        Kind.DOCUMENT: "dumps({x}).decode()",
    },
    load={
        Kind.CHOICE: "{members}[{x}]",
        Kind.DECIMAL: "canonical({x})",
        Kind.INSTANT: "{x}.astimezone(UTC)",
        Kind.TEXTS: "frozenset({x})",
    },
    # JSON of PostgreSQL has large floats without a point, as if they were integers.
    numbers="floats({x})",
    names={"dumps": _dumps, "UTC": UTC, "canonical": canonical, "floats": large_as_floats},
    compare=lambda kind, column, operator: f"{column} {operator} {{m}}",
    add=lambda kind, column: f"coalesce({column}, 0) + %s",
    append="coalesce({c}, '[]'::jsonb) || {m}::jsonb",
    include=(
        '(select jsonb_agg(m order by m collate "C") from '
        "(select jsonb_array_elements_text(coalesce({c}, '[]'::jsonb)) "
        "union select jsonb_array_elements_text({m}::jsonb)) as s(m))"
    ),
    exclude=(
        '(select jsonb_agg(m order by m collate "C") from (select jsonb_array_elements_text({c}) '
        "except select jsonb_array_elements_text({m}::jsonb)) as s(m))"
    ),
    # A plan made while the table is small must ask the index all the same: so it may not choose another way to join.
    many="select {c} from (values {v}) as k ({n}) cross join lateral "
    "(select {c} from {t} as r where {j}{l} offset 0) as r",
    # Whoever writes a row that is over goes first: it may last longer then, and nobody waits for anybody.
    delete_some=(
        "delete from {t} where ctid = any(array(select ctid from {t} where {w} limit {m} for update skip locked)) "
        "returning 1"
    ),
    # As text, since Python's floats have fewer digits than a number within JSON may have.
    stored="{c}::text",
    stored_as="{c}::text is not distinct from {m}",
    unlike="is distinct from",
    counted=("with touched as ({u} returning 1) select count(*) from touched", ""),
)

# In a session that is bound to a project, where another project's row is not an obstacle but an error.
POSTGRES_BOUND = replace(
    POSTGRES,
    guard="{c}::text = current_setting('penstock.project', true)",
    remove="select penstock.remove({n}::regclass, r.ctid) from (select r.ctid from {t} as r where {w} for update) as r",
)

DIALECTS = {dialect.name: dialect for dialect in (SQLITE, POSTGRES)}
