"""Declarations of one entity as it is, was and will be, made by a function."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from penstock import Domain, Entity, IndexKey, Table, key, pattern

Declared = Any
"A class of records that was made here, of whose fields a type checker cannot know."


def film(
    fields: Mapping[str, Any] | None = None,
    *,
    defaults: Mapping[str, Any] | None = None,
    keys: tuple[str, str] = ("FILM#{film_id}", "META"),
    index: tuple[str, str] | None = None,
    when: Mapping[str, frozenset[Any]] | None = None,
    table: str = "penstock-films",
    **options: Any,
) -> Declared:
    """A declaration of films with these fields beside its id; ``index`` are the templates of its key in GSI1."""
    told = {"tag": options.pop("tag_attribute", None), "feed": options.pop("feed", False)}
    place = Table(table, partition="PK", sort="SK", expiry="ends", **told)
    annotations = {"film_id": str, **(fields or {"title": str})}
    names = [n for n in annotations if f"{{{n}" in "".join(keys)]
    members: dict[str, Any] = {"__annotations__": annotations, "__module__": __name__, **(defaults or {})}
    members["at"] = _signed(lambda f: key(*keys)(f), names, annotations)
    if index is not None:
        partition, sort = options.pop("index_attributes", ("GSI1PK", "GSI1SK"))
        shelf = place.index("GSI1", partition=partition, sort=sort)
        members["shelved"] = walked = IndexKey(shelf, *index, when=when)
        led = [n for n in annotations if f"{{{n}" in index[0]]
        members["by_shelf"] = _signed(lambda f: pattern(walked)(f), led, annotations)
    domain = options.pop("domain", "cinema")
    options.setdefault("relation", "films")
    made = types.new_class("Film", (Entity,), {"table": place, **options}, lambda space: space.update(members))
    Domain(domain, made)
    return made


def cinema(declared: Declared) -> Domain:
    """The domain of a declaration."""
    found: Domain = declared.__domain__
    return found


def _signed(make: Any, names: list[str], annotations: Mapping[str, Any]) -> Any:
    """What a decorator makes of a function that has these parameters."""
    text = "".join(f", {name}: {name}_type" for name in names)
    scope: dict[str, Any] = {f"{name}_type": annotations[name] for name in names}
    exec(f"def declared(self, *{text}) -> None: ..." if names else "def declared(self) -> None: ...", scope)
    return make(scope["declared"])
