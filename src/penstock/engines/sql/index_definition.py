"""What an index is: its columns, their order and its condition; as it is declared, and as a database tells it.

PostgreSQL tells a condition in words of its own: ``in`` is an array, every constant has its type, and there are more
parentheses. What is left without them is compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

_TOKENS = re.compile(
    r"""
    (?P<text> '(?:[^']|'')*')
    | (?P<name> "(?:[^"]|"")*")
    | (?P<cast> ::\s*(?:timestamp\ with\ time\ zone|double\ precision|character\ varying|"?\w+"?)(?:\[\])?)
    | (?P<word> -?\w[\w.]*)
    | (?P<sign> [=<>]+)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class IndexDefinition:
    """What makes one index another than the next."""

    columns: tuple[str, ...]
    "In order; one that is walked from its end begins with a hyphen."
    condition: tuple[str, ...] = ()
    "The words of its condition."
    is_valid: bool = True
    "Has its building come to its end?"


def declared_index(index: sa.Index) -> IndexDefinition:
    """An index as it is declared."""
    where: Any = index.dialect_options["sqlite"]["where"]
    return IndexDefinition(tuple(map(_column, index.expressions)), condition_words("" if where is None else where.text))


def _column(expression: Any) -> str:
    return f"-{expression.element.name}" if isinstance(expression, sa.UnaryExpression) else str(expression.name)


def condition_words(text: str) -> tuple[str, ...]:
    """The words of a condition, whoever tells it."""
    words: list[str] = []
    for found in _TOKENS.finditer(text):
        if found["text"]:
            words.append(found["text"] if not re.fullmatch(r"'-?\d+'", found["text"]) else found["text"][1:-1])
        elif found["name"]:
            words.append(found["name"][1:-1].replace('""', '"'))
        elif found["word"] or found["sign"]:
            words.append(found[0].lower() if found[0].lower() in _KEYWORDS else found[0])
    joined = "\0".join(words).replace("=\0any\0array", "in")
    return tuple(joined.split("\0")) if joined else ()


_KEYWORDS = frozenset({"is", "not", "null", "and", "in", "any", "array", "true", "false"})
