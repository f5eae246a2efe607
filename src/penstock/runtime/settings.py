"""Settings: one frozen object, and the only reader of the environment.

A setting is looked for in the environment, then in a file ``.env``, then in ``penstock.toml``, both in the folder one
works in. `SETTINGS` is the table of what every deployment has; domains declare what is theirs, and tables by which name
they are called otherwise. Names that other documents give to ours are honoured where ours is not set.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypedDict

from penstock.declare.domain import Domain
from penstock.declare.setting import Setting
from penstock.errors import Misconfigured
from penstock.runtime.settings_files import read_dotenv, read_toml

_OURS, _OF_TESTS = "PENSTOCK_", "PENSTOCK_TEST_"
MOST_THREADS = 1000
_LOCAL_DYNAMODB = "http://localhost:8001"


def _setting(default: Any, variable: str, help: str, **more: Any) -> Any:
    told = {"variable": variable, "default": default, "help": help, **more}
    return field(default=default, metadata=told, repr=not more.get("secret"))


def _truth(text: str) -> bool:
    known = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    if text.strip().lower() not in known:
        raise ValueError("is neither true nor false")
    return known[text.strip().lower()]


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("is not a whole number") from None


def _at_least_one(text: str) -> int:
    if (number := _whole(text)) < 1:
        raise ValueError("is less than 1")
    return number


def _not_negative(text: str) -> int:
    if (number := _whole(text)) < 0:
        raise ValueError("is less than 0")
    return number


def _feed_hours(text: str) -> int:
    if not 1 <= (number := _whole(text)) <= 71:
        raise ValueError("is not from 1 to 71")
    return number


class AwsKeys(TypedDict, total=False):
    """What signs requests to AWS's services, as their clients take it."""

    access_key: str | None
    secret_key: str | None
    session_token: str | None


def _port(text: str) -> int:
    if not 0 <= (number := _whole(text)) <= 65535:
        raise ValueError("is not from 0 to 65535")
    return number


def _threads(text: str) -> int:
    if not 1 <= (number := _whole(text)) <= MOST_THREADS:
        raise ValueError("is less than 1" if number < 1 else f"is more than {MOST_THREADS}")
    return number


def _web_url(text: str) -> str:
    if not re.match(r"https?://[^/\s]", text):
        raise ValueError("is no URL such as https://penstock.example")
    return text


@dataclass(frozen=True)
class Settings:
    """What a deployment may choose."""

    store: str = _setting(
        "sqlite:///.penstock/penstock.db",
        "PENSTOCK_STORE",
        "Where records live: sqlite:///FILE, postgresql://… or dynamodb://REGION.",
    )
    read_url: str | None = _setting(
        None, "PENSTOCK_READ_URL", "A replica of a PostgreSQL server, for lists that are asked for with `behind_ok`."
    )
    objects: str = _setting(
        "files:///.penstock/objects",
        "PENSTOCK_OBJECTS",
        "Where files live: files:///FOLDER or s3://BUCKET/PREFIX.",
        also={"AWS_S3_BUCKET": "s3://{}", "STORAGE_BUCKET": "s3://{}"},
    )
    secret: str | None = _setting(
        None,
        "PENSTOCK_SECRET",
        "Signs page cursors and URLs of local files. Without one they end with the process; `penstock up` keeps one "
        "of its own under .penstock/. Machines that share a store share it too, or each has its own limits.",
        secret=True,
    )
    host: str = _setting("127.0.0.1", "PENSTOCK_HOST", "The address the service listens on.")
    port: int = _setting(8000, "PENSTOCK_PORT", "The port the service listens on.", read=_port)
    public_url: str | None = _setting(
        None,
        "PENSTOCK_PUBLIC_URL",
        "Where clients reach the service, if not at its host and port; for links, and for signed URLs of local files.",
        read=_web_url,
    )
    objects_url: str | None = _setting(
        None,
        "PENSTOCK_OBJECTS_URL",
        "Where clients reach the files, if that is not where the service itself does: signed URLs lead there. Of a "
        "bucket, its public endpoint; of local files, the address of their route.",
        read=_web_url,
    )
    start_wait: int = _setting(
        60,
        "PENSTOCK_START_WAIT",
        "Seconds that a store which does not answer yet is waited for at the start.",
        read=_not_negative,
    )
    workers: str = _setting("inline", "PENSTOCK_WORKERS", "Who runs tasks: inline (threads), celery, or none.")
    worker_threads: int = _setting(
        4, "PENSTOCK_WORKER_THREADS", "How many tasks run at once in a process.", read=_threads
    )
    broker: str | None = _setting(
        None,
        "PENSTOCK_BROKER",
        "Celery's broker: redis://… or amqp://….",
        also={"CELERY_BROKER_URL": "{}", "REDIS_URL": "{}"},
    )
    queue: str = _setting(
        "celery",
        "PENSTOCK_QUEUE",
        "Celery's queue, for tasks and schedules; choose another where something else uses the broker too.",
    )
    sink: str = _setting(
        "log:",
        "PENSTOCK_SINK",
        "Where messages go: log:, a webhook's http(s) URL, eventbridge://BUS, kafka://HOSTS/TOPIC.",
    )
    webhook_secret: str | None = _setting(
        None, "PENSTOCK_WEBHOOK_SECRET", "Signs what is sent to a webhook.", secret=True
    )
    archive: str = _setting(
        ".penstock/archive",
        "PENSTOCK_ARCHIVE",
        "Where records are archived before they leave: a folder, or s3://BUCKET/PREFIX.",
    )
    audit_days: int = _setting(
        0,
        "PENSTOCK_AUDIT_DAYS",
        "Days after which sealed audit lines are moved to the archive, where they are verified as before; 0 for never.",
        read=_not_negative,
    )
    feed_hours: int = _setting(
        48,
        "PENSTOCK_FEED_HOURS",
        "Hours for which a change is kept in the log of a SQL store for a feed that has not come to it; 1 to 71.",
        read=_feed_hours,
    )
    feed_entries: int = _setting(
        1_000_000,
        "PENSTOCK_FEED_ENTRIES",
        "How many changes the log of a SQL store keeps at most, whichever feed has not come to them.",
        read=_at_least_one,
    )
    meter: bool = _setting(
        False,
        "PENSTOCK_METER",
        "true counts what each pattern, project and key takes of the store, for `penstock cost meter` and for budgets; "
        "it takes some time of every read and write.",
        read=_truth,
    )
    prices: str | None = _setting(
        None,
        "PENSTOCK_PRICES",
        "A file of your own prices, dated, for `penstock cost` and for budgets; what it does not say, Penstock says.",
    )
    require_keys: bool = _setting(
        True,
        "PENSTOCK_REQUIRE_KEYS",
        "Who has no API key is a guest. Only for development: false makes everybody who reaches the service an "
        "administrator; it listens on this machine alone then, and behind no proxy.",
        read=_truth,
    )
    grace: int = _setting(
        25,
        "PENSTOCK_GRACE",
        "Seconds from SIGTERM or Ctrl-C to the end. Requests and tasks may finish meanwhile; the rest is handed back.",
        read=_at_least_one,
    )
    trusted_proxies: tuple[str, ...] = _setting(
        (), "PENSTOCK_TRUSTED_PROXIES", "Addresses or networks whose X-Forwarded-For is believed, by commas."
    )
    cors_origins: tuple[str, ...] = _setting(
        (), "PENSTOCK_CORS_ORIGINS", "Origins whose pages may use the API, by commas; none by default."
    )
    body_limit: int = _setting(
        10_000_000, "PENSTOCK_BODY_LIMIT", "The most bytes a request may have, but for routes that say more."
    )
    guest_body_limit: int = _setting(
        64_000,
        "PENSTOCK_GUEST_BODY_LIMIT",
        "The most bytes a guest's request may have, but for routes that say more.",
    )
    connections: int = _setting(
        0,
        "PENSTOCK_CONNECTIONS",
        "How many connections a process holds at once; 0 for what its limit of open files allows, up to 1000.",
        read=_not_negative,
    )
    heavy_requests: int = _setting(
        4,
        "PENSTOCK_HEAVY_REQUESTS",
        "How many requests of each heavy kind, speaking or decoding, a process carries out at once.",
        read=_at_least_one,
    )
    silence: int = _setting(
        20,
        "PENSTOCK_SILENCE",
        "Seconds that a client may send nothing in the middle of a request; it may take nothing of its answer "
        "thrice as long.",
        read=_at_least_one,
    )
    log_format: str = _setting("text", "PENSTOCK_LOG_FORMAT", "How to log: text, or json with one object a line.")
    telemetry: str | None = _setting(
        None,
        "PENSTOCK_TELEMETRY",
        "A collector's URL, such as http://127.0.0.1:4318. Requests, tasks and what they ask of the store are "
        "told there as OpenTelemetry's spans, by OTLP over HTTP.",
        read=_web_url,
    )
    aws_region: str | None = _setting(
        None,
        "AWS_REGION",
        "Where AWS's services are, if a URL does not say; else AWS's own configuration does, or it is us-east-1.",
    )
    aws_access_key_id: str | None = _setting(
        None, "AWS_ACCESS_KEY_ID", "Who asks AWS's services; else AWS's own configuration says it, or a role."
    )
    aws_secret_access_key: str | None = _setting(
        None, "AWS_SECRET_ACCESS_KEY", "The secret of AWS_ACCESS_KEY_ID; both or neither.", secret=True
    )
    aws_session_token: str | None = _setting(
        None, "AWS_SESSION_TOKEN", "The token of keys that last for a while.", secret=True
    )
    dynamodb_region: str | None = _setting(
        None, "DYNAMODB_REGION", "Where DynamoDB is, if PENSTOCK_STORE=dynamodb:// does not say; else AWS_REGION does."
    )
    writer_region: str | None = _setting(
        None,
        "PENSTOCK_WRITER_REGION",
        "Where DynamoDB's tables are replicated to several regions: the one in which all work is done. Workers and "
        "relays elsewhere refuse to start, as leases and conditions hold within a region alone.",
    )
    dynamodb_endpoint: str | None = _setting(
        None,
        "DYNAMODB_ENDPOINT",
        "The URL at which DynamoDB answers, if that of PENSTOCK_STORE does not say; else AWS's own configuration does.",
    )
    use_local_dynamodb: bool | None = _setting(
        None,
        "USE_LOCAL_DYNAMODB",
        f"false leaves DYNAMODB_ENDPOINT alone; true means {_LOCAL_DYNAMODB} where there is none.",
        read=_truth,
    )
    domains: tuple[str, ...] = _setting(
        (),
        "PENSTOCK_DOMAINS",
        "The domains that are served, and no others, by commas: names of installed ones, package.module:PLUGIN, or all "
        "for all that are installed, which is what is served by default.",
    )
    without: tuple[str, ...] = _setting(
        (), "PENSTOCK_WITHOUT", "Installed domains that are left out, by commas; they are not even imported."
    )
    table_names: Mapping[str, str] = field(default_factory=dict)
    "DynamoDB tables that are called otherwise than their declaration says."
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    "Everything that was found, for domains with settings of their own."

    @property
    def aws_keys(self) -> AwsKeys:
        """The keys that clients of AWS's services are given; without any they search for themselves."""
        if (self.aws_access_key_id is None) is not (self.aws_secret_access_key is None):
            lacking = "AWS_SECRET_ACCESS_KEY" if self.aws_access_key_id is not None else "AWS_ACCESS_KEY_ID"
            raise Misconfigured(f"AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together; set {lacking} too")
        token = self.aws_session_token if self.aws_access_key_id is not None else None
        return AwsKeys(access_key=self.aws_access_key_id, secret_key=self.aws_secret_access_key, session_token=token)

    @property
    def url(self) -> str:
        """Where clients reach the service."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.public_url or f"http://{host}:{self.port}").rstrip("/")

    @property
    def dynamodb(self) -> str | None:
        """Where DynamoDB answers, if AWS's own configuration is not to tell."""
        if self.use_local_dynamodb is False:
            return None
        return self.dynamodb_endpoint or (_LOCAL_DYNAMODB if self.use_local_dynamodb else None)


SETTINGS: tuple[Setting, ...] = tuple(Setting(name=f.name, **f.metadata) for f in fields(Settings) if f.metadata)


def table_settings(domain: Domain) -> Sequence[Setting]:
    """The variables by which the tables of a domain are called otherwise, on DynamoDB."""
    named = {t.setting: t.place.name for t in domain.tables if t.setting}
    return [
        Setting(variable, name, f"What the table {name} is called on DynamoDB.") for variable, name in named.items()
    ]


def read_settings(
    domains: tuple[Domain, ...], environment: Mapping[str, str] | None = None, *, folder: Path | None = None
) -> Settings:
    """The settings as they are found; tables are renamed by the variables their declarations name.

    A given ``environment`` stands for everything: no file is read then, unless a folder is given.
    """
    found = dict(os.environ if environment is None else environment)
    if environment is None or folder is not None:
        where, short = folder or Path(), {s.name: s.variable for s in SETTINGS}
        found = {**read_toml(where / "penstock.toml", short), **read_dotenv(where / ".env"), **found}
    chosen = {s.name: value for s in SETTINGS if (value := _chosen(s, found)) is not None}
    renamed = {
        table.place.name: found[table.setting]
        for domain in domains
        for table in domain.tables
        if table.setting and found.get(table.setting)
    }
    return Settings(**chosen, table_names=renamed, variables=found)


def strangers(settings: Settings, known: Iterable[Setting], *, environment: Iterable[str] | None = None) -> list[str]:
    """What was said under a name that nothing reads, a sentence for each: whoever wrote it believes that it counts.

    In the environment, which is everybody's, that is what begins as ours do; in our own files also what looks like one
    of the others. ``environment`` are the names that are found there.
    """
    names = {name for setting in known for name in (setting.variable, *setting.also)}
    around = set(os.environ if environment is None else environment)
    told = []
    for name in sorted(set(settings.variables) - names):
        ours = name.startswith(_OURS) and not name.startswith(_OF_TESTS)
        meant = _meant(name, names)
        if ours or (meant and name not in around):
            hint = f'Did you mean "{meant}"?' if meant else "penstock doctor lists those that there are."
            told.append(f"{name} is no setting of what is served, so it does nothing. {hint}")
    return told


def _meant(name: str, names: Iterable[str]) -> str | None:
    """Which was perhaps meant; that names begin alike says nothing."""
    if not name.startswith(_OURS):
        return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=0.85)), None)
    ends = {each.removeprefix(_OURS): each for each in names}
    return next((ends[end] for end in difflib.get_close_matches(name.removeprefix(_OURS), ends, n=1)), None)


def _chosen(setting: Setting, found: Mapping[str, str]) -> Any:
    """What was found under the setting's own name, else under the first other one that is set."""
    for variable, form in {setting.variable: "{}", **setting.also}.items():
        if text := found.get(variable):
            try:
                return _value(setting, form.format(text))
            except ValueError as error:
                raise Misconfigured(f"{variable}={text!r} {error}. {setting.help}") from None
    return None


def _value(setting: Setting, text: str) -> Any:
    if setting.read is not None:
        return setting.read(text)
    if isinstance(setting.default, int):
        return _whole(text)
    if isinstance(setting.default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text
