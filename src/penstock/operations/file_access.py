"""The files a record points at: which they are, whether it may, and which are its own.

It points at a file by its key, or at all that lie in a folder by that: a key which ends in ``/``.

A record may point only where the patterns of its domain let it. That is checked of everything on its way to an engine,
so that nobody can have a URL signed for another project's file by writing its key into a record of theirs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any
from uuid import UUID

from msgspec import to_builtins
from msgspec.structs import replace

from penstock.errors import ForeignFile, InvalidValue
from penstock.operations.conditions import Compare, both
from penstock.operations.updates import Append, Set, SetIfAbsent
from penstock.operations.writes import Patch
from penstock.schema.file_pattern import OWN_PLACES, FilePattern, text
from penstock.schema.generated import defined
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.object_key import validate_folder, validate_s3_key
from penstock.schema.shape import EntityShape


def files_of(shape: EntityShape, values: Mapping[str, Any]) -> list[str]:
    """Every object key that a record with these values holds."""
    keys: list[str] = []
    for field in shape.file_fields:
        value = values.get(field.name)
        if value is not None and field.keys is not None:
            keys += field.keys(value)
    return keys


def folders_of(shape: EntityShape, values: Mapping[str, Any]) -> list[str]:
    """Every folder that a record with these values holds, and with it all files that lie there."""
    folders: list[str] = []
    for field in shape.folder_fields:
        value = values.get(field.name)
        if value is not None and field.folders is not None:
            folders += field.folders(value)
    return folders


def own_files(shape: EntityShape, values: Mapping[str, Any]) -> Iterator[str]:
    """The files, and behind them the folders, that are this record's alone.

    Their places are made of its whole key, so no other record of its kind has them.
    """
    yield from _placed_by(shape, values, set(shape.key.fields))


def found_files(shape: EntityShape, values: Mapping[str, Any]) -> Iterator[str]:
    """Those whose places tell where this record stands, so that others of its kind that have them are found there."""
    yield from _placed_by(shape, values, set(shape.key.partition.names))


def _placed_by(shape: EntityShape, values: Mapping[str, Any], names: set[str]) -> Iterator[str]:
    """The files and folders in whose places these fields of the record are told."""
    patterns = [pattern for pattern in shape.files if names <= set(pattern.fields)]
    for keys, read in ((files_of, FilePattern.read), (folders_of, FilePattern.read_folder)):
        for key in dict.fromkeys(keys(shape, values)):
            if any(_is_told(read(pattern, key, shape.fields), values) for pattern in patterns):
                yield key


def _is_told(told: Mapping[str, Any] | None, values: Mapping[str, Any]) -> bool:
    """Does a place tell nothing of a record but what is so?"""
    return told is not None and all(values.get(name) == value for name, value in told.items())


def check_files(shape: EntityShape, values: Mapping[str, Any]) -> None:
    """Refuse a record that points where it may not."""
    keys = files_of(shape, values)
    # Most are where a pattern leaves nothing open; to read each by every pattern would cost more than the write itself.
    if keys and not _fixed_places(shape)(values).issuperset(keys):
        for key in keys:
            check_pointing(shape, values, key)
    if shape.folder_fields:
        for folder in folders_of(shape, values):
            _check_folder(shape, values, folder)


@cache
def _fixed_places(shape: EntityShape) -> Callable[[Mapping[str, Any]], set[str]]:
    """What gives the keys that a record with certain values may point at, as far as its patterns leave nothing open.

    Generated: every put of a record with files asks for them.
    """
    patterns = [(p.template, p.marks) for p in shape.files if p.template is not None and _is_fixed(p, p.template)]
    marks = {mark: meant for _, every in patterns for mark, meant in every.items()}
    letters = {mark: f"m{number}" for number, mark in enumerate(marks)}
    names: dict[str, Any] = {"text": to_builtins, "UUID": UUID}
    lines = []
    for mark, (name, digits) in marks.items():
        letter, field = letters[mark], shape.fields[name]
        names[f"write_{letter}"] = _harmless(field, digits)
        lines += [f"x = v.get({name!r})", f"{letter} = {_usually(field, digits)}write_{letter}(x)"]
    names["some"] = _places_of_some(list(marks), patterns)
    missing = " or ".join(f"{letter} is None" for letter in letters.values()) or "False"
    lines.append(f"if {missing}: return some({', '.join(letters.values())})")
    keys = ", ".join(_joined(template, letters, names) for template, _ in patterns)
    lines.append(f"return {{{keys}}}" if keys else "return set()")
    body = "".join(f"    {line}\n" for line in lines)
    places: Callable[[Mapping[str, Any]], set[str]] = defined(
        "places", f"def places(v):\n{body}", about=shape.name, names=names
    )
    return places


def _usually(field: FieldShape, digits: int | None) -> str:
    """The beginning of an expression that writes usual values the quicker way."""
    if field.kind is Kind.IDENTIFIER:
        return "text(x) if type(x) is UUID else "
    if field.kind is Kind.INTEGER and digits:
        return f"'%0{digits}d' % x if type(x) is int and 0 <= x < {10**digits} else "
    return ""


def _joined(template: str, letters: Mapping[str, str], names: dict[str, Any]) -> str:
    """The expression of a template's key; what stands in it for itself is added to the names."""
    pieces = []
    for place, piece in enumerate(re.split(r"%\(([^()]*)\)s", template)):
        if place % 2:
            pieces.append(letters[piece])
        elif piece:
            pieces.append(name := f"c{len(names)}")
            names[name] = piece
    return " + ".join(pieces)


def _places_of_some(
    marks: Sequence[str], patterns: Sequence[tuple[str, Mapping[str, tuple[str, int | None]]]]
) -> Callable[..., set[str]]:
    """The keys of those patterns whose marks all have a text."""

    def places(*texts: str | None) -> set[str]:
        known = {mark: said for mark, said in zip(marks, texts, strict=True) if said is not None}
        return {template % known for template, needed in patterns if needed.keys() <= known.keys()}

    return places


def _harmless(field: FieldShape, digits: int | None) -> Callable[[Any], str | None]:
    """What writes a value as a pattern does; None for no value, or one that may not stay within its part of a path."""

    def write(value: Any) -> str | None:
        if value is None:
            return None
        said = text(field, digits, value)
        return said if digits or _HARMLESS(said) else None

    return write


def _is_fixed(pattern: FilePattern, template: str) -> bool:
    """Does it make a sound key of whatever is harmless, and never the same one of different values?"""
    if pattern.shares_a_part or not pattern.constants.isdisjoint(":%"):  # data:, and half of %2e
        return False
    try:
        validate_s3_key(template % dict.fromkeys(pattern.marks, "x" * _LONGEST))
    except ValueError:
        return False
    return True


_LONGEST = 100
_HARMLESS = re.compile(rf"[A-Za-z0-9_-]{{1,{_LONGEST}}}").fullmatch
"""Texts that stay within their part of a path and make no sound key unsound. Others are looked at closely: else a
project named a/b would have files of the project a."""


def check_pointing(shape: EntityShape, values: Mapping[str, Any], key: str) -> None:
    """Refuse to let a record with these values point at a file, unless it may."""
    _check_form(shape, key)
    if not shape.files:
        return
    if not any(_is_told(told, values) for told in _readings(shape, key)):
        raise _foreign(shape, key)


def _check_folder(shape: EntityShape, values: Mapping[str, Any], folder: str) -> None:
    _check_folder_form(shape, folder)
    if not any(_is_told(told, values) for told in _folder_readings(shape, folder)):
        raise _foreign(shape, folder)


def admit_files(patch: Patch, given: Mapping[str, Any] | None) -> Patch:
    """The patch, if it points only where its record may.

    What the patterns need to know of the record and nobody has told becomes a condition of the patch.
    """
    shape = patch.shape
    if shape.pointing.isdisjoint([update.field for update in patch.updates]):
        return patch
    known = {**(given or {}), **patch.key, **{u.field: u.value for u in patch.updates if isinstance(u, Set)}}
    relied: dict[str, Any] = {}
    for update in patch.updates:
        field = shape.fields[update.field]
        for key in _set_by(field.keys, update):
            _check_form(shape, key)
            relied |= _needed(shape, key, _readings(shape, key), {**known, **relied})
        for folder in _set_by(field.folders, update):
            _check_folder_form(shape, folder)
            relied |= _needed(shape, folder, _folder_readings(shape, folder), {**known, **relied})
    when = patch.when
    for name, value in sorted(relied.items()):
        when = both(when, Compare(name, "=", value))
    return replace(patch, when=when) if relied else patch


def _needed(
    shape: EntityShape, key: str, readings: Iterable[dict[str, Any]], known: Mapping[str, Any]
) -> dict[str, Any]:
    """The values the record must have for it to point at a file or folder, beyond those that are known."""
    fitting = [
        {name: value for name, value in told.items() if known.get(name) is None}
        for told in readings
        if all(known.get(name) in (None, value) for name, value in told.items())
    ]
    if not fitting:
        raise _foreign(shape, key)
    return min(fitting, key=len)


def _set_by(keys: Callable[[Any], Iterable[str]] | None, update: Any) -> Iterator[str]:
    if keys is None:
        return
    match update:
        case Set(_, value) | SetIfAbsent(_, value):
            yield from keys(value)
        case Append(_, items):
            yield from keys(list(items))


def _readings(shape: EntityShape, key: str) -> Iterator[dict[str, Any]]:
    """What the key would tell of the record, by each pattern that it is of."""
    for pattern in shape.files:
        told = pattern.read(key, shape.fields)
        if told is not None:
            yield told


def _folder_readings(shape: EntityShape, folder: str) -> Iterator[dict[str, Any]]:
    """What the folder would tell of the record, by each pattern that it is of."""
    for pattern in shape.files:
        told = pattern.read_folder(folder, shape.fields)
        if told is not None:
            yield told


def _check_form(shape: EntityShape, key: str) -> None:
    """Again, because a list can be changed in place, past the checks of its field."""
    try:
        validate_s3_key(key)
    except ValueError as error:
        raise InvalidValue(f"{shape.name}: {error}") from None


def _check_folder_form(shape: EntityShape, folder: str) -> None:
    try:
        validate_folder(folder)
    except ValueError as error:
        raise InvalidValue(f"{shape.name}: {error}") from None
    if folder.startswith(OWN_PLACES):
        raise ForeignFile(
            f"{shape.name}: {folder} lies where the kernel keeps objects of its own; choose another place"
        )


def _foreign(shape: EntityShape, key: str) -> ForeignFile:
    places = ", ".join(pattern.text for pattern in shape.files)
    return ForeignFile(f"{shape.name} may not point at {key}; its files lie at {places}, with its own values")
