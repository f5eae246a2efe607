"""Key templates such as ``STEP#{step_name}#{ts}``: formatted, escaped, parsed back, and checked for order.

A part that is not the last one is escaped, every character up to ``%`` becoming ``%XX``, so that the text of a key is
injective and sorts, byte by byte, as its fields do. The last part stays raw, as the documents show it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any
from uuid import UUID

from msgspec import to_builtins

from penstock.errors import DeclarationError, InvalidKey, TooLarge
from penstock.schema.kinds import KEY_KINDS, FieldShape, Kind, from_key_text, instant_width, key_text

_ESCAPED = re.compile(r"[\x00-%]")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_ESCAPE = re.compile(r"%([0-9A-F]{2})")
_PADDING = re.compile(r"(\+?)0([1-9][0-9]?)d")
_SEPARATORS = ' !"#$'  # all sort before every character of an escaped part


def escape(text: str) -> str:
    """Escape a part so that whatever follows it sorts below any longer part."""
    return _ESCAPED.sub(lambda m: f"%{ord(m[0]):02X}", text)


def unescape(text: str) -> str:
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)), text)


@dataclass(frozen=True, slots=True)
class TemplatePart:
    """A field inside a template, with the literal text before it."""

    literal: str
    field: FieldShape
    width: int | None
    "The number of characters it always has, or None."
    last: bool
    largest: int | None = None
    "The largest integer that fits, of a padded one."
    smallest: int = 0
    "The smallest integer that fits: below zero for one that is padded with its sign."

    def encode(self, value: Any, entity: str) -> str:
        """The text of this part; refuses what is empty, unprintable or does not fit."""
        if value is None:
            raise InvalidKey(f"{entity}.{self.field.name} is part of a key and has no value; give it one")
        if self.width is not None and self.field.kind is not Kind.INTEGER:
            return key_text(self.field, value)
        text = key_text(self.field, value)
        if self.field.kind is Kind.INTEGER:
            return self._padded(value, text, entity)
        if not text:
            raise InvalidKey(f"{entity}.{self.field.name} is part of a key and is empty; give it a value")
        if _UNPRINTABLE.search(text):
            raise InvalidKey(
                f"{entity}.{self.field.name} = {text!r} is part of a key and has a control character "
                f"or a lone surrogate; remove it"
            )
        return text if self.last else escape(text)

    def writer(self, entity: str) -> Callable[[Any], str]:
        """What encodes values of this part, the usual ones the quicker way."""
        if self.field.kind is Kind.IDENTIFIER:
            return lambda value: to_builtins(value) if type(value) is UUID else self.encode(value, entity)
        if self.largest is not None and self.smallest == 0:
            padded, largest = f"{{:0{self.width}d}}".format, self.largest
            return lambda v: padded(v) if type(v) is int and 0 <= v <= largest else self.encode(v, entity)
        return lambda value: self.encode(value, entity)

    def expression(self, value: str, writer: str) -> str:
        """What a writer with this name makes of a value, as code that calls it only for unusual ones."""
        if self.field.kind is Kind.IDENTIFIER:
            return f"(text(x) if type(x := {value}) is UUID else {writer}(x))"
        if self.largest is not None and self.smallest == 0:
            return f"('%0{self.width}d' % x if type(x := {value}) is int and 0 <= x <= {self.largest} else {writer}(x))"
        return f"{writer}({value})"

    def _padded(self, value: int, text: str, entity: str) -> str:
        if self.smallest < 0:
            return self._signed(value, entity)
        if value < 0:
            raise InvalidKey(f"{entity}.{self.field.name} = {value} is part of a key and cannot be negative")
        if self.width is None:
            return text
        if len(text) > self.width:
            raise InvalidKey(
                f"{entity}.{self.field.name} = {value} does not fit the {self.width} digits its key has; "
                f"the largest is {10**self.width - 1}"
            )
        return text.zfill(self.width)

    def _signed(self, value: int, entity: str) -> str:
        """Below zero a sign that sorts before every digit, and then digits that grow as the number does."""
        assert self.width is not None
        if not self.smallest <= value <= self.smallest * -1:
            raise InvalidKey(
                f"{entity}.{self.field.name} = {value} does not fit the sign and {self.width - 1} digits its key has; "
                f"it is from {self.smallest} to {-self.smallest}"
            )
        return str(value).zfill(self.width) if value >= 0 else f"-{value - self.smallest:0{self.width - 1}d}"

    def decode(self, text: str) -> Any:
        if self.smallest < 0 and text[0] == "-":
            return int(text[1:]) + self.smallest
        return from_key_text(self.field, text if self.last or self.width is not None else unescape(text))

    @property
    def regex(self) -> str:
        kind = self.field.kind
        if self.smallest < 0 and self.width is not None:
            return rf"([-0][0-9]{{{self.width - 1}}})"
        if kind is Kind.INTEGER:
            return rf"([0-9]{{{self.width}}})" if self.width else r"([0-9]+)"
        if self.width is not None:
            return rf"(.{{{self.width}}})"
        return r"(.+)" if self.last else r"([^\x00-\x24]+)"


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Template:
    """A key's text as a function of an entity's fields, and back."""

    text: str
    entity: str
    parts: tuple[TemplatePart, ...]
    tail: str
    limit: int
    "The most bytes such a key may have."
    names: tuple[str, ...] = field(init=False)
    _pattern: re.Pattern[str] = field(init=False)
    _open: tuple[TemplatePart, ...] = field(init=False)
    "The parts whose values may be refused."
    _writers: tuple[tuple[str, str, Callable[[Any], str]], ...] = field(init=False)
    "Of each part the literal before it, its field, and what makes its text: done with every read and write."

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(p.field.name for p in self.parts))
        object.__setattr__(self, "_open", tuple(p for p in self.parts if p.field.optional or not _always_fits(p.field)))
        object.__setattr__(
            self, "_writers", tuple((p.literal, p.field.name, p.writer(self.entity)) for p in self.parts)
        )
        body = "".join(re.escape(p.literal) + p.regex for p in self.parts) + re.escape(self.tail)
        object.__setattr__(self, "_pattern", re.compile(body, re.DOTALL | re.ASCII))

    @property
    def bare(self) -> FieldShape | None:
        """The field, when the template is nothing but one field."""
        if len(self.parts) == 1 and not self.parts[0].literal and not self.tail:
            return self.parts[0].field
        return None

    @property
    def can_refuse(self) -> bool:
        """Is there a part whose value may not fit?"""
        return bool(self._open)

    @property
    def can_refuse_texts(self) -> bool:
        """Is there a part whose value may not fit, and is no number that has its digits?"""
        return not self._is_short or any(part.largest is None or part.field.optional for part in self._open)

    def encode(self, values: Mapping[str, Any]) -> str:
        """The key's text; InvalidKey when a part does not fit."""
        text = ""
        for literal, name, write in self._writers:
            text += literal + write(values[name])
        return self._bounded(text + self.tail)

    def expression(self, values: str, names: dict[str, Any]) -> str:
        """What `encode` makes of values, as code; what it speaks of is added to the names.

        For functions that are generated and make a key with every write: each call that they need not make is felt.
        """
        names |= {"text": to_builtins, "UUID": UUID}
        pieces = []
        for part in self.parts:
            writer = f"write_{len(names)}"
            names[writer] = part.writer(self.entity)
            pieces += [repr(part.literal)] * bool(part.literal)
            pieces.append(part.expression(f"{values}[{part.field.name!r}]", writer))
        joined = " + ".join([*pieces, *[repr(self.tail)] * bool(self.tail)]) or "''"
        if self._is_short:
            return joined
        names[bounded := f"bounded_{len(names)}"] = self._bounded
        return f"{bounded}({joined})"

    @property
    def _is_short(self) -> bool:
        """Is every text that it makes surely within its limit?"""
        literals = len(self.tail) + sum(len(part.literal) for part in self.parts)
        widths = [part.width for part in self.parts]
        return None not in widths and (literals + sum(w for w in widths if w)) * 4 <= self.limit

    def _bounded(self, text: str) -> str:
        if len(text) * 4 > self.limit:  # a character is at most 4 bytes, so short keys need no counting
            self.check_length(text)
        return text

    def check_length(self, text: str) -> None:
        """Refuse the text of a key, or the beginning of one, that has more bytes than a key may have."""
        if (length := len(text.encode())) > self.limit:
            raise TooLarge(
                f"{self.entity}: the key made by {self.text!r} has {length} bytes; "
                f"at most {self.limit} are allowed. Shorten {', '.join(self.names)}"
            )

    def check(self, values: Mapping[str, Any]) -> None:
        """Refuse what `encode` would refuse, without making the text when that can be told from the fields."""
        length = 0
        for part in self._open:
            value = values[part.field.name]
            if part.largest is not None and type(value) is int and part.smallest <= value <= part.largest:
                continue
            if type(value) is str and value and value.isascii() and value.isprintable():
                length += len(value) * 3  # as long as if all of it were escaped
            else:
                length += len(part.encode(value, self.entity))
        if length * 4 + len(self.text) + 40 * len(self.parts) > self.limit:
            self.encode(values)

    def head(self, values: Mapping[str, Any], count: int) -> str:
        """The text up to and including the first ``count`` fields and the literal that follows them."""
        out = []
        for part in self.parts[:count]:
            out.append(part.literal)
            out.append(part.encode(values[part.field.name], self.entity))
        out.append(self.parts[count].literal if count < len(self.parts) else self.tail)
        return "".join(out)

    def parse(self, text: str) -> dict[str, Any] | None:
        """The fields a key's text was made of, or None when this template did not make it."""
        match = self._pattern.fullmatch(text)
        if match is None:
            return None
        try:
            values = {p.field.name: p.decode(t) for p, t in zip(self.parts, match.groups(), strict=True)}
            # Another writer's spelling of the same fields is another key: ours would not find it.
            return values if self.head(values, len(self.parts)) == text else None
        except ValueError:
            return None

    def may_equal(self, other: Template) -> bool:
        """Could the two templates ever make the same text?"""
        return _meet(list(self._symbols()), list(other._symbols()))

    def _symbols(self) -> Iterator[tuple[frozenset[str], bool]]:
        """The template as (set of characters, may repeat), for the overlap check."""
        for part in self.parts:
            yield from ((frozenset(c), False) for c in part.literal)
            alphabet = _alphabet(part)
            if part.width is None:
                yield alphabet, True
            elif part.smallest < 0:
                yield _SIGNS, False
                yield from ((alphabet, False) for _ in range(part.width - 1))
            else:
                yield from ((alphabet, False) for _ in range(part.width))
        yield from ((frozenset(c), False) for c in self.tail)


def _always_fits(field: FieldShape) -> bool:
    """Can every value of the field be part of a key?"""
    if field.kind is Kind.CHOICE:
        return all(m.value and len(m.value) <= 40 and not _UNPRINTABLE.search(m.value) for m in field.python)
    return field.kind in (Kind.IDENTIFIER, Kind.INSTANT, Kind.DAY)


# One word stands for every character beyond ASCII.
_BEYOND = "beyond ASCII"
_ANY = frozenset(chr(c) for c in range(0x20, 0x7F)) | {_BEYOND}
_SIGNS = frozenset("-0")
"How an integer with its sign begins."
_ALPHABETS = {
    Kind.INTEGER: frozenset("0123456789"),
    Kind.IDENTIFIER: frozenset("0123456789abcdef-"),
    Kind.DAY: frozenset("0123456789-"),
    Kind.INSTANT: frozenset("0123456789-:.TZ"),
}


def _alphabet(part: TemplatePart) -> frozenset[str]:
    known = _ALPHABETS.get(part.field.kind)
    if known is not None:
        return known
    return _ANY if part.last else _ANY - frozenset(_SEPARATORS)


def _meet(left: list[tuple[frozenset[str], bool]], right: list[tuple[frozenset[str], bool]]) -> bool:
    """Do two sequences of character sets, some repeating, have a word in common? (A walk over both automata.)"""
    seen: set[tuple[int, int]] = set()
    todo = [(0, 0)]
    while todo:
        i, j = state = todo.pop()
        if i == len(left) and j == len(right):
            return True
        if state in seen or i == len(left) or j == len(right):
            continue
        seen.add(state)
        if _touch(left[i][0], right[j][0]):
            after_left = (i, i + 1) if left[i][1] else (i + 1,)
            after_right = (j, j + 1) if right[j][1] else (j + 1,)
            todo.extend((a, b) for a in after_left for b in after_right if (a, b) != state)
    return False


def _touch(left: frozenset[str], right: frozenset[str]) -> bool:
    """Have two sets a character in common?"""
    if left & right:
        return True
    return any(_BEYOND in one and any(c > "~" for c in other) for one, other in ((left, right), (right, left)))


def compile_template(
    text: str, fields: Mapping[str, FieldShape], *, entity: str, ordered: bool, limit: int
) -> Template:
    """Read a template and refuse one that is ambiguous, names an unknown field, or sorts otherwise than its fields."""
    try:
        pieces = list(Formatter().parse(text))
    except ValueError as error:
        raise DeclarationError(f"{entity}: the key template {text!r} cannot be read: {error}") from None
    named = [(lit, name, spec or "", conv) for lit, name, spec, conv in pieces if name is not None]
    tail = pieces[-1][0] if pieces and pieces[-1][1] is None else ""
    parts: list[TemplatePart] = []
    for position, (literal, name, spec, conversion) in enumerate(named):
        last = position == len(named) - 1 and not tail
        if conversion:
            raise DeclarationError(f"{entity}: {text!r} uses !{conversion}; a key part takes a field name only")
        shape = fields.get(name)
        if shape is None:
            raise DeclarationError(
                f"{entity}: the template {text!r} names {name!r}, which is not a field; "
                f"the fields are {', '.join(fields)}"
            )
        width = _width(entity, text, shape, spec, ordered=ordered)
        if shape.kind is not Kind.INTEGER or width is None:
            parts.append(TemplatePart(literal, shape, width, last))
        elif spec.startswith("+"):
            most = 10 ** (width - 1) - 1
            parts.append(TemplatePart(literal, shape, width, last, most, -most))
        else:
            parts.append(TemplatePart(literal, shape, width, last, 10**width - 1))
    template = Template(text, entity, tuple(parts), tail, limit)
    _check_separators(template)
    _check_printable(template)
    return template


def _width(entity: str, text: str, shape: FieldShape, spec: str, *, ordered: bool) -> int | None:
    """The fixed width of a part; refuses kinds and formats that would not sort as the field does."""
    where = f"{entity}: {shape.name!r} in the key template {text!r}"
    if shape.kind not in KEY_KINDS:
        allowed = ", ".join(sorted(k.value for k in KEY_KINDS))
        raise DeclarationError(f"{where} is {shape.kind.noun}; a key part may be {allowed}")
    if shape.kind is Kind.INTEGER:
        if padding := _PADDING.fullmatch(spec):
            if padding[1] and padding[2] == "1":
                raise DeclarationError(
                    f"{where} has the format {spec!r}, with no room for a digit; use {{…:+02d}} or more"
                )
            return int(padding[2])
        if spec:
            raise DeclarationError(
                f"{where} has the format {spec!r}; zero-pad an integer, for example :010d, or :+010d if it may be "
                f"negative"
            )
        if ordered and text != f"{{{shape.name}}}":
            raise DeclarationError(
                f"{where} would sort as text (10 before 9); zero-pad it, for example {{{shape.name}:010d}}"
            )
        return None
    if spec:
        raise DeclarationError(f"{where} has the format {spec!r}; only integers take one")
    if shape.kind is Kind.CHOICE:
        for member in shape.python:
            if not member.value or _UNPRINTABLE.search(member.value):
                raise DeclarationError(f"{where} may be {member}, whose text is empty or unprintable; give it another")
    if shape.kind is Kind.IDENTIFIER:
        return 36
    if shape.kind is Kind.DAY:
        return 10
    return instant_width(shape.digits) if shape.kind is Kind.INSTANT else None


def _check_separators(template: Template) -> None:
    """After a part of variable width must come a character that sorts below every character of such a part."""
    followers = [*(p.literal for p in template.parts[1:]), template.tail]
    for part, follower in zip(template.parts, followers):  # noqa: B905 - a constant has no part, but a tail
        if part.width is not None or part.last:
            continue
        if follower[:1] == "" or follower[0] not in _SEPARATORS:
            raise DeclarationError(
                f"{template.entity}: in the key template {template.text!r}, {part.field.name!r} is followed by "
                f"{follower[:1] or 'another field'!r}; the keys would not sort as their fields. Separate with '#'"
            )


def _check_printable(template: Template) -> None:
    literals = "".join(p.literal for p in template.parts) + template.tail
    if _UNPRINTABLE.search(literals):
        raise DeclarationError(f"{template.entity}: the key template {template.text!r} has a control character")
    if not template.parts and not template.tail:
        raise DeclarationError(f"{template.entity}: a key template is empty; give a text such as 'METADATA'")
