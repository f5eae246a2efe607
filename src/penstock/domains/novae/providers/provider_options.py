"""What a deployment may choose about providers of novae."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from penstock.declare.option import duration, number, option, settings_of, whole
from penstock.declare.setting import Setting
from penstock.errors import Misconfigured
from penstock.net.url import read_url

FORM = "local:FOLDER, ssa+https://host/path or tap+https://host/path, each after NAME= if need be, parted by commas"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_NAMED = re.compile(r"([A-Za-z0-9._-]{1,60})=(.*)", re.S)
TOKEN = "NC_ADS_TOKEN"


@dataclass(frozen=True)
class ProviderOptions:
    """The choices, checked; URLs are read by whoever needs them, so that none is repeated in an error."""

    providers: str = option("NC_PROVIDERS", "", f"Who is asked for spectra: {FORM}.")
    resolver: str = option("NC_RESOLVER", "", "The URL of a name resolver that speaks MAST's JSON; none by default.")
    bibliography: str = option("NC_BIBLIOGRAPHY", "", "The URL of ADS's API, such as https://host/v1; none by default.")
    trusted: str = option(
        "NC_TRUSTED", "", "Origins whose files may be fetched though they are private or without TLS, by commas."
    )
    radius: float = option(
        "NC_SEARCH_ARCSECONDS", 10.0, "How far from a nova's position spectra are looked for.", read=number(0.1, 3600)
    )
    most_products: int = option(
        "NC_MOST_PRODUCTS", 2000, "How many spectra of one nova are read from one provider.", read=whole(1, 10_000)
    )
    per_second: float = option(
        "NC_REQUESTS_PER_SECOND", 2.0, "How many requests a second a process sends to one host.", read=number(0.01, 100)
    )
    at_once: int = option(
        "NC_REQUESTS_AT_ONCE", 2, "How many requests a process has at one host at once.", read=whole(1, 32)
    )
    answer_time: timedelta = option(
        "NC_ANSWER_SECONDS", timedelta(seconds=60), "Seconds that an answer may take.", read=duration(1, 600)
    )
    download_time: timedelta = option(
        "NC_DOWNLOAD_SECONDS",
        timedelta(minutes=15),
        "Seconds that a download may take, tries and all.",
        read=duration(1, 3600),
    )
    download_bytes: int = option(
        "NC_DOWNLOAD_BYTES", 512 * 1024**2, "The most bytes that a product may have.", read=whole(1, 2**40)
    )
    unpacked_bytes: int = option(
        "NC_UNPACKED_BYTES", 1024**3, "The most bytes that an archive or gzip may unpack to.", read=whole(1, 2**40)
    )


PROVIDER_SETTINGS: tuple[Setting, ...] = (
    *settings_of(ProviderOptions),
    Setting(TOKEN, None, "What the bibliography knows us by; it is sent to NC_BIBLIOGRAPHY alone.", secret=True),
)


@dataclass(frozen=True, slots=True)
class ChosenProvider:
    """One provider that a deployment has chosen."""

    name: str
    kind: str
    "local, ssa or tap."
    place: str
    "A folder, or a URL."


def chosen_providers(text: str) -> list[ChosenProvider]:
    """What NC_PROVIDERS says; Misconfigured names what is wrong without repeating a URL."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    chosen = [_chosen(part, number) for number, part in enumerate(parts, 1)]
    names = [each.name for each in chosen]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise Misconfigured(f"NC_PROVIDERS: {', '.join(twice)} is there twice; write NAME= before one of them")
    return chosen


def _chosen(part: str, number: int) -> ChosenProvider:
    named = _NAMED.fullmatch(part)
    name, rest = (named[1], named[2].strip()) if named and ":" not in named[1] else (None, part)
    if rest.startswith("local:"):
        folder = rest.removeprefix("local:").strip()
        if not folder:
            raise Misconfigured(f"NC_PROVIDERS: provider {number} names no folder; write local:FOLDER")
        return ChosenProvider(_name(name or "local", number), "local", str(Path(folder).expanduser()))
    kind, plus, url = rest.partition("+")
    if not plus or kind not in ("ssa", "tap"):
        raise Misconfigured(f"NC_PROVIDERS: provider {number} is none that is known; write {FORM}")
    host = checked_url(url, f"NC_PROVIDERS: provider {number}").host
    return ChosenProvider(_name(name or f"{kind}-{host}"[:40], number), kind, url)


def _name(name: str, number: int) -> str:
    if not _NAME.fullmatch(name):
        raise Misconfigured(
            f"NC_PROVIDERS: provider {number} cannot be called {name[:60]!r}; write up to 40 of a-z, 0-9, '.', '_', '-'"
        )
    return name


@dataclass(frozen=True, slots=True)
class CheckedUrl:
    """A URL that can be one: its host, its origin, and the root of it."""

    url: str
    host: str
    root: str
    origin: tuple[str, str, int]


def checked_url(url: str, about: str) -> CheckedUrl:
    """A URL of the operator's; Misconfigured says what is wrong with it, and not what it is."""
    try:
        read = read_url(url)
    except ValueError as wrong:
        raise Misconfigured(f"{about} has a URL that {wrong}; write https://host/path") from None
    return CheckedUrl(url, read.host, str(read.at_root()), read.origin)


def trusted_origins(text: str) -> list[CheckedUrl]:
    """What NC_TRUSTED says."""
    return [checked_url(part.strip(), "NC_TRUSTED") for part in text.split(",") if part.strip()]


def token_of(setting: Callable[[str], str | None], *, wanted: bool) -> str | None:
    """The token, which goes together with the bibliography's URL."""
    token = (setting(TOKEN) or "").strip() or None
    if wanted and token is None:
        raise Misconfigured(f"NC_BIBLIOGRAPHY is set and {TOKEN} is not; set both, or none")
    if token is not None and not wanted:
        raise Misconfigured(f"{TOKEN} is set and NC_BIBLIOGRAPHY is not; set both, or none")
    return token
