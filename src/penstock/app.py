"""The composition root: the only file that knows engines by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from penstock.errors import Misconfigured
from penstock.meter import Meter
from penstock.ops import Query
from penstock.ports import Clock, Engine
from penstock.settings import Settings
from penstock.store import Store


def open_store(
    url: str, *, settings: Settings | None = None, clock: Clock | None = None, meter: Meter | None = None
) -> Store:
    """A store at a URL: ``sqlite:///file.db``, ``postgresql://user@host/database`` or ``dynamodb://us-east-1``.

    Nothing is connected before the first read or write. A ``meter`` counts what is used.
    """
    chosen = settings or Settings()
    engine = open_engine(url, settings=chosen, meter=meter)
    return Store(engine, clock=clock, secret=chosen.secret.encode() if chosen.secret else None, meter=meter)


def open_engine(url: str, *, settings: Settings, meter: Meter | None = None) -> Engine:
    """The engine a URL names; one that can tells the meter what its requests really took."""
    scheme = urlsplit(url).scheme
    opener = _OPENERS.get(scheme)
    if opener is None:
        close = difflib.get_close_matches(scheme, _OPENERS, n=1)
        hint = f'Did you mean "{close[0]}"?' if close else f"There are {', '.join(_OPENERS)}."
        raise Misconfigured(f'No engine "{scheme}". {hint}')
    return opener(url, settings, meter)


def _sqlite(url: str, settings: Settings, meter: Meter | None) -> Engine:
    from penstock.engines.sql.engine import SqlEngine
    from penstock.engines.sql.sqlite import SqliteConnector

    path = unquote(url.removeprefix("sqlite://").removeprefix("/"))
    if not path:
        raise Misconfigured("sqlite:// names no file; write sqlite:///relative.db or sqlite:////absolute.db")
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    return SqlEngine(SqliteConnector(path))


def _postgres(url: str, settings: Settings, meter: Meter | None) -> Engine:
    if find_spec("psycopg") is None:
        raise _missing("postgres", "psycopg")
    from penstock.engines.sql.engine import SqlEngine
    from penstock.engines.sql.postgres import PostgresConnector

    return SqlEngine(PostgresConnector(url.replace("postgres://", "postgresql://", 1)))


def _dynamodb(url: str, settings: Settings, meter: Meter | None) -> Engine:
    """``dynamodb://REGION?endpoint=http://127.0.0.1:8000``; credentials come from where AWS's own tools find them."""
    for driver in ("pycurl", "botocore"):
        if find_spec(driver) is None:
            raise _missing("dynamodb", driver)
    from penstock.engines.dynamodb import DynamoEngine

    parts = urlsplit(url)
    endpoint = parse_qs(parts.query).get("endpoint", [None])[0]
    return DynamoEngine(
        region=parts.netloc or settings.aws_region,
        endpoint=endpoint,
        table_names=settings.table_names,
        report_capacity=None if meter is None else meter.measure,
    )


def _missing(extra: str, driver: str) -> Misconfigured:
    return Misconfigured(f"{driver} is not installed; run: pip install 'penstock[{extra}]'")


_OPENERS: dict[str, Callable[[str, Settings, Meter | None], Engine]] = {
    "sqlite": _sqlite,
    "postgresql": _postgres,
    "postgres": _postgres,
    "dynamodb": _dynamodb,
}


def explain(query: Query[object]) -> dict[str, object]:
    """What each engine would send for a query, without any database."""
    from penstock.engines.dynamodb.queries import explain_query
    from penstock.engines.sql.explain import explain_sql

    return {"dynamodb": explain_query(query), **explain_sql(query)}
