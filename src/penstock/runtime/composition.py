"""The composition root: the only file that knows engines and object stores by name."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from penstock.cost.meter import Meter
from penstock.cost.metered_engine import MeteredEngine
from penstock.cost.read_cost import read_cost
from penstock.errors import Misconfigured
from penstock.kernel.examination import EXAMINED
from penstock.kernel.layouts.evolving_engine import evolving
from penstock.kernel.store import Store
from penstock.lifecycle.folder_archive import FolderArchive
from penstock.net.shown import without_secrets
from penstock.operations.item_collection import ItemCollection
from penstock.operations.reads import Query
from penstock.ports.archive import Archive
from penstock.ports.clock import Clock, SystemClock
from penstock.ports.engine import Engine
from penstock.ports.object_store import ObjectStore
from penstock.ports.private import make_private
from penstock.ports.sink import Sink
from penstock.runtime.settings import AwsKeys, Settings
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.runtime.traced_engine import traced

T = TypeVar("T")
USUAL_REGION = "us-east-1"


def open_store(
    url: str,
    *,
    settings: Settings | None = None,
    clock: Clock | None = None,
    meter: Meter | None = None,
    read_url: str | None = None,
) -> Store:
    """A store at a URL: ``sqlite:///file.db``, ``postgresql://user@host/database`` or ``dynamodb://us-east-1``.

    Nothing is connected before the first read or write. A ``meter`` counts what is used. At ``read_url`` is a replica
    of a PostgreSQL server, for lists that may be behind (``behind_ok=True``).
    """
    chosen = settings or Settings()
    replica = _open_replica(url, read_url, chosen, meter) if read_url else None
    engine = open_engine(url, settings=chosen, meter=meter)
    if clock is None:  # whoever shares a file is on one machine, and has one clock
        clock = SystemClock(skew=timedelta(0)) if _scheme(url) == "sqlite" else SystemClock()
    if meter is not None:  # next to the engine: what is asked about layouts is paid for, under its own name
        engine = MeteredEngine(engine, meter)
    if chosen.telemetry is not None:  # around the layouts: nobody who is traced has asked about them
        engine = traced(evolving(engine, clock), _scheme(url))
    secret = chosen.secret.encode() if chosen.secret else None
    return Store(engine, clock=clock, secret=secret, own=SYSTEM_RECORDS, replica=replica)


def _open_replica(url: str, read_url: str, settings: Settings, meter: Meter | None) -> Engine:
    for each in (url, read_url):
        if _scheme(each) not in ("postgresql", "postgres"):
            raise Misconfigured(
                f"{without_secrets(each)} is no PostgreSQL server, and only such a one has replicas that lists are "
                f"read from; leave PENSTOCK_READ_URL (read_url=) out"
            )
    engine = open_engine(read_url, settings=settings, meter=meter)
    return MeteredEngine(engine, meter) if meter is not None else engine


def open_engine(url: str, *, settings: Settings, meter: Meter | None = None) -> Engine:
    """The engine a URL names; one that can tells the meter what its requests really took."""
    return _named("engine", url, _OPENERS)(url, settings, meter)


def open_objects(url: str, *, settings: Settings | None = None, clock: Clock | None = None) -> ObjectStore:
    """An object store at a URL: ``files:///folder`` or ``s3://bucket/prefix``. Nothing is connected before it is used.

    An S3 URL may say ``?region=…&endpoint=…&profile=…``; what it does not say comes from where AWS's own tools look.
    """
    return _named("object store", url, _OBJECTS)(url, settings or Settings(), clock)


def open_sink(settings: Settings, *, clock: Clock) -> Sink:
    """Where messages go: ``log:``, a webhook's URL, ``eventbridge://BUS`` or ``kafka://HOST:PORT,…/TOPIC``."""
    return _named("sink", settings.sink, _SINKS)(settings, clock)


def open_archive(place: str, *, settings: Settings | None = None) -> Archive:
    """Cold storage at the URL of an object store, or in a folder."""
    if "://" not in place:
        return FolderArchive(place)
    from penstock.lifecycle.object_archive import ObjectArchive

    return ObjectArchive(open_objects(place, settings=settings))


def _named(what: str, url: str, openers: Mapping[str, T]) -> T:
    """What opens a URL of this scheme."""
    scheme = _scheme(url)
    if not scheme:
        begins = " or ".join(f"{known}:" for known in openers)
        shown = without_secrets(url)
        here = f"; for a place on this machine write {next(iter(openers))}:///{shown}" if what != "sink" else ""
        raise Misconfigured(f"the {what} {shown!r} is no URL; one begins with {begins}{here}")
    if scheme not in openers:
        close = difflib.get_close_matches(scheme, openers, n=1)
        hint = f'Did you mean "{close[0]}"?' if close else f"There are {', '.join(openers)}."
        raise Misconfigured(f'No {what} "{scheme}". {hint}')
    return openers[scheme]


def _scheme(url: str) -> str:
    """What stands before the colon; the rest is read by whom it is for, as a password may have any sign."""
    found = re.match(r"[A-Za-z][A-Za-z0-9+.-]*(?=:)", url)
    return found[0].lower() if found else ""


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        raise Misconfigured(f"what follows {_scheme(url)}:// is no URL: {error}") from None


def _endpoint(url: str | None) -> str | None:
    if url and not (_scheme(url) in ("http", "https") and _parts(url).hostname):
        raise Misconfigured(f"the endpoint {without_secrets(url)!r} is no URL; write http://HOST:PORT or https://HOST")
    return url


def embedded_file(url: str) -> Path:
    """The file of an embedded store; Misconfigured for any other."""
    if _scheme(url) != "sqlite":
        raise Misconfigured(f"{without_secrets(url)} is no embedded store; its server has backups of its own")
    path = unquote(url.removeprefix("sqlite://").removeprefix("/"))
    if not path:
        raise Misconfigured("sqlite:// names no file; write sqlite:///relative.db or sqlite:////absolute.db")
    return Path(path)


def _sqlite(url: str, settings: Settings, meter: Meter | None) -> Engine:
    from penstock.engines.sql.engine import SqlEngine
    from penstock.engines.sql.sqlite import SqliteConnector

    path = str(embedded_file(url))
    try:
        make_private(Path(path).parent)
    except OSError as error:
        raise Misconfigured(f"no folder can be made for {path}: {error.strerror}; name another file") from None
    return SqlEngine(SqliteConnector(path))


def _postgres(url: str, settings: Settings, meter: Meter | None) -> Engine:
    if find_spec("psycopg") is None:
        raise _missing("postgres", "psycopg")
    from penstock.engines.sql.engine import SqlEngine
    from penstock.engines.sql.postgres import PostgresConnector

    return SqlEngine(PostgresConnector(url.replace("postgres://", "postgresql://", 1)))


def _dynamodb(url: str, settings: Settings, meter: Meter | None) -> Engine:
    """``dynamodb://REGION?endpoint=http://127.0.0.1:8000``; what it does not say comes from the settings, or else, like
    credentials, from where AWS's own tools find it."""
    for driver in ("pycurl", "botocore"):
        if find_spec(driver) is None:
            raise _missing("dynamodb", driver)
    from penstock.engines.dynamodb import DynamoEngine

    parts = _parts(url)
    endpoint = _endpoint(parse_qs(parts.query).get("endpoint", [None])[0] or settings.dynamodb)
    return DynamoEngine(
        region=parts.netloc or settings.dynamodb_region or _region(settings),
        endpoint=endpoint,
        **settings.aws_keys,
        table_names=settings.table_names,
        report_capacity=None if meter is None else meter.measure,
    )


def _files(url: str, settings: Settings, clock: Clock | None) -> ObjectStore:
    from penstock.objects.grant import RouteSigner
    from penstock.objects.local import LocalObjects

    folder = unquote(url.removeprefix("files://").removeprefix("/"))
    if not folder:
        raise Misconfigured("files:// names no folder; write files:///relative or files:////absolute")
    secret = settings.secret.encode() if settings.secret else _secret_of_this_process()
    signer = RouteSigner(secret, url=settings.objects_url or f"{settings.url}/objects", clock=clock)
    return LocalObjects(folder, signer=signer)


@cache
def _secret_of_this_process() -> bytes:
    """One for all object stores of the process, so that what one signs the route of another opens."""
    return os.urandom(32)


def _s3(url: str, settings: Settings, clock: Clock | None) -> ObjectStore:
    if find_spec("boto3") is None:
        raise _missing("s3", "boto3")
    from penstock.objects.s3 import S3Connection, S3Objects

    parts = _parts(url)
    if not parts.netloc:
        raise Misconfigured("s3:// names no bucket; write s3://bucket/prefix")
    chosen = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if unknown := set(chosen) - {"region", "endpoint", "profile"}:
        raise Misconfigured(f"an S3 URL says region, endpoint or profile, not {', '.join(sorted(unknown))}")
    connection = S3Connection(
        parts.netloc,
        region=chosen.get("region") or _region(settings),
        endpoint=_endpoint(chosen.get("endpoint")),
        public_endpoint=settings.objects_url,
        profile=chosen.get("profile"),
        # A profile that the URL names has keys of its own.
        **(settings.aws_keys if "profile" not in chosen else AwsKeys()),
    )
    return S3Objects(connection, prefix=unquote(parts.path), clock=clock)


def _log(settings: Settings, clock: Clock) -> Sink:
    from penstock.sinks.log import LogSink

    return LogSink(source=settings.url)


def _webhook(settings: Settings, clock: Clock) -> Sink:
    from penstock.sinks.webhook import WebhookSink

    return WebhookSink(settings.sink, secret=settings.webhook_secret or "", source=settings.url, clock=clock)


def _eventbridge(settings: Settings, clock: Clock) -> Sink:
    from penstock.sinks.eventbridge import EventBridgeSink

    bus = _parts(settings.sink).netloc or "default"
    return EventBridgeSink(source=settings.url, region=_region(settings), bus=bus, **settings.aws_keys)


def _region(settings: Settings) -> str:
    """As the settings say, or AWS's own configuration; where neither does, the one that the documents name."""
    if settings.aws_region is not None:
        return settings.aws_region
    from penstock.engines.dynamodb.wire.endpoints import find_region
    from penstock.engines.dynamodb.wire.errors import Unconfigured

    try:
        return find_region()
    except Unconfigured:
        return USUAL_REGION


def _kafka(settings: Settings, clock: Clock) -> Sink:
    from penstock.sinks.kafka import KafkaSink

    parts = _parts(settings.sink)
    topic = parts.path.strip("/")
    if not parts.netloc or not topic:
        raise Misconfigured(
            f"{without_secrets(settings.sink)} names no servers or no topic; write kafka://HOST:PORT,HOST:PORT/TOPIC"
        )
    return KafkaSink(parts.netloc, topic=topic, source=settings.url)


def _missing(extra: str, driver: str) -> Misconfigured:
    return Misconfigured(f"{driver} is not installed; run: pip install 'penstock[{extra}]'")


_OPENERS: dict[str, Callable[[str, Settings, Meter | None], Engine]] = {
    "sqlite": _sqlite,
    "postgresql": _postgres,
    "postgres": _postgres,
    "dynamodb": _dynamodb,
}


_OBJECTS: dict[str, Callable[[str, Settings, Clock | None], ObjectStore]] = {"files": _files, "s3": _s3}


_SINKS: dict[str, Callable[[Settings, Clock], Sink]] = {
    "log": _log,
    "http": _webhook,
    "https": _webhook,
    "eventbridge": _eventbridge,
    "kafka": _kafka,
}


def explain(query: Query[object] | ItemCollection[object], *, limit: int = 50) -> dict[str, object]:
    """What each engine would send for a page of a query, without any database, and what that takes of DynamoDB."""
    from penstock.engines.dynamodb.shown_queries import explain_query
    from penstock.engines.sql.explain import explain_sql

    statements = explain_sql(query, limit=limit, examine=EXAMINED)
    return {"dynamodb": explain_query(query), **statements, "cost": read_cost(query)}
