"""How a pattern is asked in a query string: by a word for each of its parameters, and by bounds where it is a range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.declare.entity import Entity
from penstock.errors import DeclarationError
from penstock.operations.reads import ANYTHING, Range
from penstock.schema.kinds import Kind
from penstock.schema.shape import PatternShape
from penstock.web.errors import InvalidRequest
from penstock.web.forms import parameter_type

PATTERN, LIMIT, CURSOR = "pattern", "limit", "cursor"
OF_EVERY_LIST = frozenset({PATTERN, LIMIT, CURSOR})
BOUNDS = {"since": "not before", "after": "after", "before": "before", "until": "not after"}
"The words that bound a range, and what each says."
_PREFIX = "starting_with"


def words_of(entity: type[Entity], pattern: PatternShape) -> dict[str, tuple[Any, str]]:
    """The parameters of the query string that a pattern takes: the type of each, and what it says."""
    found: dict[str, tuple[Any, str]] = {}
    for name in pattern.parameters:
        if name in OF_EVERY_LIST:
            raise DeclarationError(f"{pattern.label} is asked by {name!r}, a word of every list; rename the field")
        kind = parameter_type(entity, name)
        if name != pattern.ranged:
            found[name] = (kind, f"Exactly this {name}.")
            continue
        found |= {f"{name}.{word}": (kind, f"{name} {about} this.") for word, about in BOUNDS.items()}
        if entity.__shape__.fields[name].kind is Kind.TEXT:
            found[f"{name}.{_PREFIX}"] = (str, "Begins so.")
    return found


def needed(pattern: PatternShape) -> list[str]:
    """The parameters without which a pattern cannot be asked."""
    return [n for n in pattern.parameters if n != pattern.ranged and n not in pattern.optional]


def asking_text(pattern: PatternShape) -> str:
    """A sentence that tells by what a pattern is asked; none where it is asked by nothing."""
    must = needed(pattern)
    may = [n for n in pattern.parameters if n not in must]
    words = [f"needs {', '.join(must)}"] * bool(must) + [f"may have {', '.join(may)}"] * bool(may)
    return f" It {' and '.join(words)}." if words else ""


def range_of(name: str, given: Mapping[str, Any]) -> Range[Any]:
    """The bounds of a ranged parameter; at most one at each end."""
    bound = {word: given.get(f"{name}.{word}") for word in (*BOUNDS, _PREFIX)}
    for first, second in (("since", "after"), ("until", "before")):
        if bound[first] is not None and bound[second] is not None:
            wrong = f"{name}.{second}"
            raise InvalidRequest(
                f"give {name}.{first} or {wrong}, not both", [{"where": f"query.{wrong}", "message": "one too many"}]
            )
    ends = [w for w in BOUNDS if bound[w] is not None]
    if bound[_PREFIX] is not None:
        if ends:
            raise InvalidRequest(
                f"give {name}.{_PREFIX} or bounds, not both",
                [{"where": f"query.{name}.{_PREFIX}", "message": "not together with bounds"}],
            )
        return Range(prefix=bound[_PREFIX])
    if not ends:
        return ANYTHING
    low = bound["since"] if bound["since"] is not None else bound["after"]
    high = bound["until"] if bound["until"] is not None else bound["before"]
    return Range(low, high, open_low=bound["after"] is not None, open_high=bound["before"] is not None)
