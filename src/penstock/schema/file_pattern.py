"""Patterns of object keys: where the files of a record may lie.

    mv/projects/{project_id}/scenes/scene_{sequence:03d}.mp4
    assets/{project_id}/**

A name in braces stands for the record's own value of that field, so a pattern with ``{project_id}`` admits no file of
another project. ``*`` stands for anything within one part of the path, ``**`` for anything at all. A pattern that ends
in ``/`` is one of folders; a folder may also lie wherever a ``**`` at the end of a pattern admits all of its files. A
pattern makes the keys it admits as well, so that no place is written down twice:

    CLIP = FilePattern("mv/projects/{project_id}/scenes/scene_{sequence:03d}.mp4")
    CLIP.key(project_id=project_id, sequence=1)      # or CLIP.key_of(scene)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from penstock.errors import DeclarationError, InvalidKey
from penstock.schema.kinds import KEY_KINDS, FieldShape, Kind, coerce, from_key_text, key_text
from penstock.schema.object_key import validate_folder, validate_s3_key

UPLOADS, TRASH, ARCHIVE, SIDECARS = "uploads/", "trash/", "archive/", "sidecars/"
OWN_PLACES = (UPLOADS, TRASH, ARCHIVE, SIDECARS)
"""Where the system keeps objects of its own: on their way in, on their way out, cold, and made of others for those who
look at them. No domain has files there."""

_TOKEN = re.compile(r"\{([a-z_][a-z0-9_]*)(?::0(\d+)d)?\}|(\*\*?)")

Marks = dict[str, tuple[str, int | None]]
_FREE = ("[^/]+", ".+")
"What * and ** stand for."


class FilePattern:
    """One place where files may lie."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts: list[str | tuple[str, int | None]] = []
        "Regular expressions of what is constant or free; names of fields with the digits they are written with."
        self._shapes: dict[str, FieldShape] = {}
        "The fields of the domain's entities that it names."
        self._parse()

    def __repr__(self) -> str:
        return f"<files {self.text}>"

    @cached_property
    def prefix(self) -> str:
        """What every key of the pattern begins with, in whole parts of the path."""
        return re.split(r"[{*]", self.text, maxsplit=1)[0].rpartition("/")[0]

    @cached_property
    def is_folder(self) -> bool:
        """Is it a pattern of folders, and of nothing else?"""
        return self.text.endswith("/")

    @cached_property
    def admits_folders(self) -> bool:
        return self.is_folder or self.text.endswith("**")

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part[0] for part in self._parts if isinstance(part, tuple)))

    def usable_by(self, fields: Mapping[str, FieldShape]) -> bool:
        """Has an entity every field that the pattern names?"""
        return all(name in fields for name in self.fields)

    def check(self, entity: str, fields: Mapping[str, FieldShape]) -> None:
        """Refuse a pattern whose fields cannot be written in a key."""
        for part in self._parts:
            if isinstance(part, str):
                continue
            field, digits = fields[part[0]], part[1]
            if field.kind not in KEY_KINDS or (digits is not None) != (field.kind is Kind.INTEGER):
                raise DeclarationError(
                    f"{entity}: {field.name} in the file pattern {self.text!r} is {field.kind.noun}; use texts, "
                    f"identifiers, choices, dates, and integers with a width such as {{{field.name}:03d}}"
                )
            self._shapes.setdefault(field.name, field)

    def key(self, *free: str, **fields: Any) -> str:
        """The key for these values; ``free`` are what its stars stand for, in their order.

        InvalidKey where it would be no key of the pattern.
        """
        if wrong := self._misfit(free, fields):
            raise InvalidKey(f"a key of {self.text!r} cannot be made: {wrong}")
        values, left = {name: coerce(self._shapes[name], value) for name, value in fields.items()}, iter(free)

        def write(token: re.Match[str]) -> str:
            name, digits, wild = token.groups()
            return next(left) if wild else text(self._shapes[name], int(digits) if digits else None, values[name])

        key = _TOKEN.sub(write, self.text)
        try:
            (validate_folder if self.is_folder else validate_s3_key)(key, "the key")
        except ValueError as error:
            raise InvalidKey(str(error)) from None
        if (self.read_folder if self.is_folder else self.read)(key, self._shapes) != values:
            raise InvalidKey(f"a key of {self.text!r} cannot be made: {key!r} is none of it")
        return key

    def key_of(self, record: Any, *free: str) -> str:
        """The key for a record's own values."""
        return self.key(*free, **{name: getattr(record, name) for name in self.fields})

    def _misfit(self, free: tuple[str, ...], fields: Mapping[str, Any]) -> str | None:
        if not self.usable_by(self._shapes):
            raise DeclarationError(
                f"{self.text!r} is a file pattern of no domain; give it to a Domain as one of files="
            )
        stars = sum(part in _FREE for part in self._parts)
        if stars != len(free):
            return f"{stars} parts of it are free, not {len(free)}"
        missing = [f"{name} is missing" for name in self.fields if name not in fields]
        return (
            ", ".join([*missing, *(f"{name} is no part of it" for name in fields if name not in self.fields)]) or None
        )

    def read(self, key: str, fields: Mapping[str, FieldShape]) -> dict[str, Any] | None:
        """The values of the fields that a key of the pattern tells; None when the key is not of the pattern."""
        return None if self.is_folder else self._told(self._regex.fullmatch(key), fields)

    def read_folder(self, folder: str, fields: Mapping[str, FieldShape]) -> dict[str, Any] | None:
        """The same of a folder; None when it is none of the pattern, or not all files in it could be."""
        return self._told(self._folder_regex.fullmatch(folder), fields) if self.admits_folders else None

    def _told(self, found: re.Match[str] | None, fields: Mapping[str, FieldShape]) -> dict[str, Any] | None:
        if found is None:
            return None
        values: dict[str, Any] = {}
        for name, digits in (part for part in self._parts if isinstance(part, tuple)):
            said = found.group(name)
            try:
                values[name] = from_key_text(fields[name], said)
            except ValueError:
                return None
            # One value has one text: 1 and 001 must not be two files of the same scene.
            if text(fields[name], digits, values[name]) != said:
                return None
        return values

    @cached_property
    def template(self) -> str | None:
        """The one key that the pattern lets a record have, to be filled with `text`s; None where part of it is free."""
        if any(part in _FREE for part in self._parts):
            return None
        return _TOKEN.sub(lambda token: f"%({token.group()[1:-1]})s", self.text.replace("%", "%%"))

    @cached_property
    def constants(self) -> frozenset[str]:
        """The characters that stand in the pattern itself."""
        return frozenset(_TOKEN.sub("", self.text))

    @cached_property
    def shares_a_part(self) -> bool:
        """Do two values stand in one part of the path? Then p_q and r may look like p and q_r."""
        return any(len(_TOKEN.findall(part)) > 1 for part in self.text.split("/"))

    @cached_property
    def marks(self) -> Marks:
        """What stands in the pattern's braces, each with the field it means and the digits it is written with."""
        parts = (part for part in self._parts if isinstance(part, tuple))
        return {name if digits is None else f"{name}:0{digits}d": (name, digits) for name, digits in parts}

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return self._compiled(self._parts)

    @cached_property
    def _folder_regex(self) -> re.Pattern[str]:
        if self.is_folder:
            return self._regex
        *before, _, _ = self._parts  # the stars, and that nothing follows them
        whole = self.text.endswith("/**")
        return self._compiled([*before, "(?:.+/)?" if whole else ".+/"])

    @staticmethod
    def _compiled(parts: Sequence[str | tuple[str, int | None]]) -> re.Pattern[str]:
        seen: set[str] = set()
        expression = ""
        for part in parts:
            if isinstance(part, str):
                expression += part
            else:
                expression += f"(?P={part[0]})" if part[0] in seen else f"(?P<{part[0]}>[^/]+)"
                seen.add(part[0])
        return re.compile(expression, re.DOTALL)

    def _parse(self) -> None:
        at = 0
        free = False
        for token in _TOKEN.finditer(self.text):
            constant = self.text[at : token.start()]
            if free and not constant:
                raise DeclarationError(f"{self.text!r}: nothing parts what stands before {token.group()} from it")
            self._add_constant(constant)
            name, digits, wild = token.groups()
            if wild:
                self._parts.append(_FREE[len(wild) - 1])
            else:
                self._parts.append((name, int(digits) if digits else None))
            at, free = token.end(), True
        self._add_constant(self.text[at:])

    def _add_constant(self, constant: str) -> None:
        if "{" in constant or "}" in constant:
            raise DeclarationError(f"{self.text!r} is no file pattern; write {{field}}, {{number:03d}}, * or **")
        self._parts.append(re.escape(constant))


def text(field: FieldShape, digits: int | None, value: Any) -> str:
    """A value as a pattern writes it."""
    return key_text(field, value) if digits is None else f"{value:0{digits}d}"
