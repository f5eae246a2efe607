"""Settings: one frozen object, and the only reader of the environment.

A setting is looked for in the environment, then in a file ``.env``, then in ``penstock.toml``, both in the folder one
works in. `SETTINGS` is the whole table: name, default, help.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from penstock.declare.domain import Domain
from penstock.errors import Misconfigured


def _setting(default: Any, variable: str, help: str) -> Any:
    return field(default=default, metadata={"variable": variable, "help": help})


@dataclass(frozen=True)
class Settings:
    """What a deployment may choose."""

    store: str = _setting(
        "sqlite:///.penstock/penstock.db",
        "PENSTOCK_STORE",
        "Where records live: sqlite:///FILE, postgresql://… or dynamodb://REGION.",
    )
    objects: str = _setting(
        "files:///.penstock/objects", "PENSTOCK_OBJECTS", "Where files live: files:///FOLDER or s3://BUCKET/PREFIX."
    )
    secret: str | None = _setting(
        None,
        "PENSTOCK_SECRET",
        "Signs page cursors and URLs of local files. Without one they end with the process; `penstock up` keeps one "
        "of its own under .penstock/.",
    )
    host: str = _setting("127.0.0.1", "PENSTOCK_HOST", "The address the service listens on.")
    port: int = _setting(8000, "PENSTOCK_PORT", "The port the service listens on.")
    public_url: str | None = _setting(
        None, "PENSTOCK_PUBLIC_URL", "Where clients reach the service, if not at its host and port; for signed URLs."
    )
    workers: str = _setting("inline", "PENSTOCK_WORKERS", "Who runs tasks: inline (threads), celery, or none.")
    worker_threads: int = _setting(4, "PENSTOCK_WORKER_THREADS", "How many tasks run at once in a process.")
    broker: str | None = _setting(None, "PENSTOCK_BROKER", "Celery's broker: redis://… or amqp://….")
    sink: str = _setting(
        "log:",
        "PENSTOCK_SINK",
        "Where messages go: log:, a webhook's http(s) URL, eventbridge://BUS, kafka://HOSTS/TOPIC.",
    )
    webhook_secret: str | None = _setting(None, "PENSTOCK_WEBHOOK_SECRET", "Signs what is sent to a webhook.")
    archive: str = _setting(
        ".penstock/archive", "PENSTOCK_ARCHIVE", "The folder in which records are archived before they leave."
    )
    trusted_proxies: tuple[str, ...] = _setting(
        (), "PENSTOCK_TRUSTED_PROXIES", "Addresses or networks whose X-Forwarded-For is believed, by commas."
    )
    cors_origins: tuple[str, ...] = _setting(
        (), "PENSTOCK_CORS_ORIGINS", "Origins whose pages may use the API, by commas; none by default."
    )
    body_limit: int = _setting(10_000_000, "PENSTOCK_BODY_LIMIT", "The most bytes a request may have.")
    log_format: str = _setting("text", "PENSTOCK_LOG_FORMAT", "How to log: text, or json with one object a line.")
    aws_region: str | None = _setting(
        None, "AWS_REGION", "Where AWS's services are, if a URL does not say; else AWS's own configuration does."
    )
    table_names: Mapping[str, str] = field(default_factory=dict)
    "DynamoDB tables that are called otherwise than their declaration says."
    domains: Mapping[str, str] = field(default_factory=dict)
    "Everything else that was found, for domains with settings of their own."

    @property
    def url(self) -> str:
        """Where clients reach the service."""
        return (self.public_url or f"http://{self.host}:{self.port}").rstrip("/")


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of the table."""

    name: str
    variable: str
    default: Any
    help: str


SETTINGS: tuple[Setting, ...] = tuple(
    Setting(f.name, f.metadata["variable"], f.default, f.metadata["help"])
    for f in fields(Settings)
    if f.default is not MISSING and f.metadata
)


def read_settings(
    domains: tuple[Domain, ...], environment: Mapping[str, str] | None = None, *, folder: Path | None = None
) -> Settings:
    """The settings as they are found; tables are renamed by the variables their declarations name.

    A given ``environment`` stands for everything: no file is read then, unless a folder is given.
    """
    found = dict(os.environ if environment is None else environment)
    if environment is None or folder is not None:
        where = folder or Path()
        found = {**_toml(where / "penstock.toml"), **_dotenv(where / ".env"), **found}
    chosen = {s.name: _value(s, found[s.variable]) for s in SETTINGS if found.get(s.variable)}
    renamed = {
        table.place.name: found[table.setting]
        for domain in domains
        for table in domain.tables
        if table.setting and found.get(table.setting)
    }
    return Settings(**chosen, table_names=renamed, domains=found)


def _value(setting: Setting, text: str) -> Any:
    if isinstance(setting.default, int):
        try:
            return int(text)
        except ValueError:
            raise Misconfigured(f"{setting.variable}={text!r} is not a whole number. {setting.help}") from None
    if isinstance(setting.default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


def _dotenv(path: Path) -> dict[str, str]:
    """``NAME=value`` lines, as shells and other tools write them."""
    found: dict[str, str] = {}
    for number, line in enumerate(_lines(path), 1):
        text = line.strip().removeprefix("export ")
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise Misconfigured(f"{path}, line {number}: write NAME=value")
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        found[name.strip()] = value
    return found


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path} cannot be read: {error}") from None


def _toml(path: Path) -> dict[str, str]:
    """A table ``[penstock]`` of settings by their short names; ``[environment]`` for variables of domains."""
    try:
        content = tomllib.loads("\n".join(_lines(path)))
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(f"{path}: {error}") from None
    variables = {s.name: s.variable for s in SETTINGS}
    found: dict[str, str] = {}
    for name, value in content.get("penstock", {}).items():
        if name not in variables:
            close = difflib.get_close_matches(name, variables, n=1)
            hint = f' Did you mean "{close[0]}"?' if close else f" There are {', '.join(variables)}."
            raise Misconfigured(f"{path}: no setting {name!r}.{hint}")
        found[variables[name]] = ",".join(value) if isinstance(value, list) else str(value)
    found.update({name: str(value) for name, value in content.get("environment", {}).items()})
    return found
