"""No regular expression of the source can be kept busy: its time grows no faster than the text it is given."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from pkgutil import iter_modules

import pytest

import penstock
import penstock.domains
from penstock.declare.domain import Domain
from penstock.engines.dynamodb.item_decoder import _exact
from penstock.schema.shape import KeyShape
from penstock.schema.template import Template
from tests.expressions import Expression, expressions, expressions_of
from tests.house.statements import statements
from tests.pumped import grows_too_fast, pumps

SOURCE = Path(penstock.__file__).parent
PARTS = 4
"So that several processes share them."


def domains() -> list[Domain]:
    shipped = iter_modules(penstock.domains.__path__)
    models = [importlib.import_module(f"{penstock.domains.__name__}.{module.name}.model") for module in shipped]
    return [value for model in models for value in vars(model).values() if isinstance(value, Domain)]


def templates() -> list[Template]:
    shapes = [shape for domain in domains() for shape in domain.shapes]
    keys: list[KeyShape] = [key for s in shapes for key in (s.key, *(index.key for index in s.indexes.values()))]
    return [template for key in keys for template in (key.partition, key.sort) if template is not None]


def places() -> list[str]:
    return [pattern._regex.pattern for domain in domains() for pattern in domain.files]


def folders() -> list[str]:
    return [p._folder_regex.pattern for domain in domains() for p in domain.files if p.admits_folders]


def colours() -> str:
    from penstock.studio.drawing.scene_plan import _COLOURS

    return "|".join(_COLOURS)


def meanings() -> list[str]:
    from penstock.studio import vocabulary
    from penstock.studio.concept import looks

    every = {**vars(vocabulary), **vars(looks)}
    tables = [value for name, value in every.items() if name.isupper() and isinstance(value, dict)]
    return [words for table in tables for words in table.values() if isinstance(words, str)]


def of_scenery() -> list[str]:
    from penstock.studio.vocabulary import _SCENERY

    any_name = colours()
    return [
        rf"\b({any_name})\b",
        rf"\b({any_name})\b(?:[\s,]+(?:and\s+)?[\w-]+)?\s+{_SCENERY.pattern}\b",
    ]


def of_subjects() -> list[str]:
    from penstock.studio.concept.catalogue import _words

    return [_words()[1].pattern]


def of_sizes() -> list[str]:
    from penstock.studio.concept.wish import _SIZES

    return [pattern for pattern, _ in _SIZES.values()]


MADE: dict[str, Callable[[], list[str]]] = {
    "penstock.studio.vocabulary:scenery_colours": of_scenery,
    "penstock.studio.vocabulary:spans": lambda: [rf"(?<![\w-])(?:{words})(?![\w-])" for words in meanings()],
    "penstock.studio.concept.catalogue:_words": of_subjects,
    "penstock.studio.concept.wish:_traits": of_sizes,
    "penstock.engines.dynamodb.item_decoder:_exact": lambda: [_exact(t).pattern for t in templates()],
    "penstock.schema.file_pattern:_compiled": lambda: [*places(), *folders()],
    "penstock.schema.template:__post_init__": lambda: [t._pattern.pattern for t in templates()],
}
"Those that are made of what only a running function knows, as it makes them."
MATCHED = {
    "penstock.engines.dynamodb.item_decoder",
    "penstock.schema.file_pattern",
    "penstock.schema.template",
}
"Where these are never looked for in the middle of a text."


@cache
def found() -> tuple[Expression, ...]:
    return tuple(expressions(SOURCE))


def made() -> Iterator[Expression]:
    for where, patterns in MADE.items():
        for pattern in dict.fromkeys(patterns()):
            yield Expression(where, pattern, searched=where.partition(":")[0] not in MATCHED)


def slow(expression: Expression) -> str | None:
    """A worst case an expression fails at, and how."""
    assert expression.pattern is not None
    tried = ((pump, grows_too_fast(expression.search, pump)) for pump in pumps(expression.pattern, expression.flags))
    return next((f"{pump}: {grown}" for pump, grown in tried if grown), None)


@pytest.mark.parametrize("part", range(PARTS))
def test_no_expression_takes_longer_than_its_text_is_long(part: int) -> None:
    known = [*(e for e in found() if e.pattern is not None), *made()][part::PARTS]
    assert len(known) > 80 // PARTS
    assert {f"{e.where}: {e.pattern}": how for e in known if (how := slow(e))} == {}


def test_every_expression_that_is_made_while_running_is_attacked_too() -> None:
    """Whoever writes a new one says in MADE what it looks like."""
    assert {e.where for e in found() if e.pattern is None} == set(MADE)


def test_expressions_are_only_written_where_they_are_found() -> None:
    """As `re.search(…)`, and with nothing but `re`."""
    others = {"regex", "fnmatch", "re2"}
    strange = [
        path.name
        for path in SOURCE.rglob("*.py")
        for written in statements(path).imports
        if others & {*written.modules} or written.module == "re" or ("re" in written.modules and written.renamed)
    ]
    assert strange == []


BROKEN = {
    "that of OBJ files, as it was": r"(?:#.*\n|\s*\n|(?:mtllib|o|g|s|usemtl) .*\n)*v(?:[ \t]+-?\d[\d.eE+-]*){3,}",
    "a prologue of XML, as it was": r"(?is)(?:\s*(?:<!doctype\b[^>\[]*(?:\[.*?\])?[^>]*>))",
    "an address with a question, as it was": r"(https?://[^\s?\"'<>]*)\?[^\s\"'<>]*",
    "a file's folder, as it was": r"file:\S*/",
    "empty lines": r"\s*\n",
    "space at the end": r"\s+$",
    "nested": r"(a+)+$",
    "the same twice": r"(?:a|a)*b",
    "almost the same": r"(\w|\d)*!",
    "three in a row": r"\d*\d*\d*x",
    "two words far apart": r"foo.*bar.*baz",
    "a tag": r"<.*?>",
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_expression_that_is_slow_would_be_found(name: str) -> None:
    (expression,) = expressions_of("json.decoder", f"import re\nre.search({BROKEN[name]!r}, text)")
    assert slow(expression)


def test_an_expression_is_used_as_the_source_uses_it() -> None:
    source = (
        're.compile(r"a").fullmatch\nX = re.compile("b" + "c", re.I)\nX.match(t)\nY = re.compile("d")\nY.sub("", t)\n'
    )
    found = list(
        expressions_of("json.decoder", "import re\n" + source + 'Field(pattern="^e$")\ndef f(g): re.split(g, t)\n')
    )
    assert {(e.pattern, e.searched) for e in found} == {
        ("a", False),
        ("bc", False),
        ("d", True),
        ("^e$", True),
        (None, True),
    }
