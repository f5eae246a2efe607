"""A crew of which some are hired: whoever has a URL among the settings works elsewhere, the others are embedded.

| who | settings |
|---|---|
| writer | MV_WRITER_URL, …_TOKEN, …_MODEL |
| generator | MV_GENERATOR_URL, …_TOKEN, …_MODEL; and if need be …_FIELDS, …_INPUT, …_LENGTHS, …_PRICE, …_FILES |
| lip-sync | MV_LIPSYNC_URL, …_TOKEN, …_MODEL; and if need be …_FIELDS, …_INPUT, …_PRICE, …_FILES |

``…_FIELDS`` says what the model calls the parts of its input (``prompt=text,seconds=duration``; a part without a name
is not sent), ``…_INPUT`` is a JSON object that is sent each time, ``…_LENGTHS`` are the seconds a film may have
(``4,6,8``), ``…_PRICE`` is what a second of the model's time costs in dollars, and ``…_FILES`` are origins that its
films may be fetched from though they are private or without TLS (``http://minio.internal:9000``): nothing else is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from penstock.declare.setting import Setting as Declared
from penstock.errors import Misconfigured
from penstock.generation.ports import Crew

if TYPE_CHECKING:
    from penstock.generation.predictions import Predictions
    from penstock.generation.provider_http import Service

Setting: TypeAlias = Callable[[str], str | None]

WRITER, GENERATOR, LIP_SYNC = "MV_WRITER", "MV_GENERATOR", "MV_LIPSYNC"
_NEEDED = ("URL", "TOKEN", "MODEL")
_MAY_HAVE = {
    WRITER: (),
    GENERATOR: ("FIELDS", "INPUT", "LENGTHS", "PRICE", "FILES"),
    LIP_SYNC: ("FIELDS", "INPUT", "PRICE", "FILES"),
}
_DOES = {WRITER: "writes scenes", GENERATOR: "films", LIP_SYNC: "moves lips"}
_HELP = {
    "URL": "Where somebody else {does}; here, if nobody does.",
    "TOKEN": "What whoever {does} there knows us by.",
    "MODEL": "Which model {does} there.",
    "FIELDS": "What that model calls the parts of its input, such as prompt=text,seconds=duration.",
    "INPUT": "A JSON object that is sent to it each time.",
    "LENGTHS": "The seconds a film of it may have, such as 4,6,8.",
    "PRICE": "What a second of its time costs, in US dollars.",
    "FILES": "Origins its films may be fetched from though they are private or without TLS, by commas.",
}
SETTINGS = tuple(
    Declared(f"{who}_{what}", None, _HELP[what].format(does=_DOES[who]), secret=what == "TOKEN")
    for who, more in _MAY_HAVE.items()
    for what in (*_NEEDED, *more)
)
"Every setting there is."
_THINKING = timedelta(minutes=3)
"So long a language model may take for all the scenes of a film."


def hired_crew(setting: Setting, embedded: Crew) -> Crew:
    """The embedded crew, with those replaced who are configured to work elsewhere."""
    hired = {who: told for who in _MAY_HAVE if (told := _configured(setting, who)) is not None}
    if not hired:
        return embedded
    if find_spec("pycurl") is None:
        raise Misconfigured(f"{min(hired)}_URL needs pycurl; run: pip install 'penstock[http]'")
    from penstock.generation.chat_writer import ChatWriter
    from penstock.generation.remote_film import (
        FILM_FIELDS,
        FILM_PARTS,
        SYNC_FIELDS,
        SYNC_PARTS,
        PredictedFilm,
        PredictedLipSync,
    )

    crew = embedded
    if told := hired.get(WRITER):
        crew = replace(crew, writer=ChatWriter(_service(told, WRITER, timeout=_THINKING), told["MODEL"]))
    if told := hired.get(GENERATOR):
        film = PredictedFilm(
            _predictions(told, GENERATOR),
            fields=_fields(told, GENERATOR, FILM_FIELDS, FILM_PARTS),
            always=_input(told, GENERATOR),
            lengths=_lengths(told, GENERATOR),
        )
        crew = replace(crew, generator=film)
    if told := hired.get(LIP_SYNC):
        sync = PredictedLipSync(
            _predictions(told, LIP_SYNC),
            fields=_fields(told, LIP_SYNC, SYNC_FIELDS, SYNC_PARTS),
            always=_input(told, LIP_SYNC),
        )
        crew = replace(crew, lip_sync=sync)
    return crew


def _configured(setting: Setting, who: str) -> dict[str, str] | None:
    """What is set of one of them; None if nothing is."""
    names = (*_NEEDED, *_MAY_HAVE[who])
    told = {name: text for name in names if (text := (setting(f"{who}_{name}") or "").strip())}
    if not told:
        return None
    if missing := [f"{who}_{name}" for name in _NEEDED if name not in told]:
        there = ", ".join(f"{who}_{name}" for name in told)
        raise Misconfigured(f"{there} is set and {', '.join(missing)} is not; set all of them, or none")
    return told


def _service(told: Mapping[str, str], who: str, *, timeout: timedelta = timedelta(minutes=1)) -> Service:
    from penstock.generation.provider_http import Service

    try:
        trusted = [origin.strip() for origin in told.get("FILES", "").split(",") if origin.strip()]
        return Service(told["URL"], told["TOKEN"], timeout=timeout, trusted=trusted)
    except Misconfigured as wrong:
        names = ", ".join(f"{who}_{name}" for name in ("URL", "TOKEN", "FILES") if name in told)
        raise Misconfigured(f"{names}: {wrong}") from None


def _predictions(told: Mapping[str, str], who: str) -> Predictions:
    from penstock.generation.predictions import Predictions

    try:
        price = float(told["PRICE"]) if "PRICE" in told else None
    except ValueError:
        price = -1.0
    if price is not None and not 0 <= price < 1000:
        raise Misconfigured(f"{who}_PRICE={told['PRICE']!r} is no price; write the dollars of a second, like 0.0014")
    try:
        return Predictions(_service(told, who), told["MODEL"], price=price)
    except Misconfigured as wrong:
        raise Misconfigured(f"{who}_MODEL: {wrong}") from None


def _fields(told: Mapping[str, str], who: str, usual: Mapping[str, str], parts: frozenset[str]) -> dict[str, str]:
    fields = dict(usual)
    for pair in filter(None, told.get("FIELDS", "").split(",")):
        part, equals, name = (text.strip() for text in pair.partition("="))
        if not part or not equals:
            raise Misconfigured(f"{who}_FIELDS={told['FIELDS']!r} is no list of names; write prompt=text,seed=seed")
        if part not in parts:
            raise Misconfigured(f"{who}_FIELDS names {part!r}; a model is told {', '.join(sorted(parts))}")
        fields[part] = name
    return fields


def _input(told: Mapping[str, str], who: str) -> dict[str, Any]:
    try:
        always = json.loads(told.get("INPUT", "{}"))
    except ValueError:
        always = None
    if not isinstance(always, dict):
        raise Misconfigured(f'{who}_INPUT is no object of JSON; write {{"resolution": "720p"}}')
    return always


def _lengths(told: Mapping[str, str], who: str) -> list[int]:
    lengths = [text.strip() for text in told.get("LENGTHS", "").split(",") if text.strip()]
    if not all(text.isascii() and text.isdigit() and 1 <= int(text) <= 600 for text in lengths):
        raise Misconfigured(f"{who}_LENGTHS={told['LENGTHS']!r} is no list of seconds; write 4,6,8")
    return [int(text) for text in lengths]
