"""The adapters to providers elsewhere, built from what a deployment has chosen. What is wrong is named by variable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from penstock.errors import Misconfigured
from penstock.generation.chat_writer import ChatWriter
from penstock.generation.circuit_breaker import CircuitBreaker
from penstock.generation.made_file import FILM, MESH, PICTURE, MadeFile
from penstock.generation.predictions import Predictions
from penstock.generation.provider_http import ProviderService
from penstock.generation.remote_assets import (
    MESH_FIELDS,
    MESH_PARTS,
    PICTURE_FIELDS,
    PICTURE_PARTS,
    PredictedMesh,
    PredictedPicture,
)
from penstock.generation.remote_film import (
    FILM_FIELDS,
    FILM_PARTS,
    SYNC_FIELDS,
    SYNC_PARTS,
    PredictedFilm,
    PredictedLipSync,
)
from penstock.generation.remote_providers import ProviderChoice

_THINKING = timedelta(minutes=3)
"So long a language model may take for all the scenes of a film."


def chat_writer(chosen: ProviderChoice) -> ChatWriter:
    """A language model that writes scenes."""
    return ChatWriter(_service(chosen, timeout=_THINKING), chosen["MODEL"])


def predicted_film(chosen: ProviderChoice) -> PredictedFilm:
    """A model that films."""
    return PredictedFilm(
        _predictions(chosen),
        fields=_fields(chosen, FILM_FIELDS, FILM_PARTS),
        always=_input(chosen),
        lengths=_lengths(chosen),
    )


def predicted_lip_sync(chosen: ProviderChoice) -> PredictedLipSync:
    """A model that moves lips."""
    fields = _fields(chosen, SYNC_FIELDS, SYNC_PARTS)
    return PredictedLipSync(_predictions(chosen), fields=fields, always=_input(chosen))


def predicted_picture(chosen: ProviderChoice) -> PredictedPicture:
    """A model that draws."""
    fields = _fields(chosen, PICTURE_FIELDS, PICTURE_PARTS)
    return PredictedPicture(_predictions(chosen, PICTURE), fields=fields, always=_input(chosen))


def predicted_mesh(chosen: ProviderChoice) -> PredictedMesh:
    """A model that turns pictures into meshes."""
    fields = _fields(chosen, MESH_FIELDS, MESH_PARTS)
    return PredictedMesh(_predictions(chosen, MESH), fields=fields, always=_input(chosen))


def _service(chosen: ProviderChoice, *, timeout: timedelta = timedelta(minutes=1)) -> ProviderService:
    try:
        trusted = chosen.names("FILES")
        breaker = CircuitBreaker(clock=chosen.clock)
        return ProviderService(chosen["URL"], chosen["TOKEN"], timeout=timeout, trusted=trusted, breaker=breaker)
    except Misconfigured as wrong:
        names = ", ".join(chosen.variable(name) for name in ("URL", "TOKEN", "FILES") if name in chosen)
        raise Misconfigured(f"{names}: {wrong}") from None


def _predictions(chosen: ProviderChoice, makes: MadeFile = FILM) -> Predictions:
    try:
        price = float(chosen["PRICE"]) if "PRICE" in chosen else None
    except ValueError:
        price = -1.0
    if price is not None and not 0 <= price < 1000:
        told = f"{chosen.variable('PRICE')}={chosen['PRICE']!r}"
        raise Misconfigured(f"{told} is no price; write the dollars of a second, like 0.0014")
    service = _service(chosen)
    try:
        return Predictions(service, chosen["MODEL"], makes=makes, price=price)
    except Misconfigured as wrong:
        raise Misconfigured(f"{chosen.variable('MODEL')}: {wrong}") from None


def _fields(chosen: ProviderChoice, usual: Mapping[str, str], parts: frozenset[str]) -> dict[str, str]:
    fields, variable = dict(usual), chosen.variable("FIELDS")
    for pair in filter(None, chosen.get("FIELDS").split(",")):
        part, equals, name = (text.strip() for text in pair.partition("="))
        if not part or not equals:
            raise Misconfigured(f"{variable}={chosen['FIELDS']!r} is no list of names; write prompt=text,seed=seed")
        if part not in parts:
            raise Misconfigured(f"{variable} names {part!r}; a model is told {', '.join(sorted(parts))}")
        fields[part] = name
    return fields


def _input(chosen: ProviderChoice) -> dict[str, Any]:
    try:
        always = json.loads(chosen.get("INPUT", "{}"))
    except (ValueError, RecursionError):
        always = None
    if not isinstance(always, dict):
        raise Misconfigured(f'{chosen.variable("INPUT")} is no object of JSON; write {{"resolution": "720p"}}')
    return always


def _lengths(chosen: ProviderChoice) -> list[int]:
    lengths = chosen.names("LENGTHS")
    if not all(text.isascii() and text.isdigit() and 1 <= int(text) <= 600 for text in lengths):
        raise Misconfigured(f"{chosen.variable('LENGTHS')}={chosen['LENGTHS']!r} is no list of seconds; write 4,6,8")
    return [int(text) for text in lengths]
