"""Computations: how a stored field is made of others, always in the same way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.errors import InvalidValue, PenstockError


@dataclass(frozen=True, slots=True)
class Computation:
    """A pure function of some fields of the same record."""

    of: tuple[str, ...]
    "The fields it is made of, in the order of the function's parameters."
    function: Callable[..., Any]
    check: Callable[[Any], Any]
    "Makes sure that the value is one the field may have; ValueError if not."

    def value(self, where: str, values: Mapping[str, Any]) -> Any:
        """The value for these fields; InvalidValue where there is none."""
        try:
            return self.check(self.function(*[values[name] for name in self.of]))
        except PenstockError:
            raise
        except Exception as error:
            raise InvalidValue(
                f"{where} cannot be computed of {' and '.join(self.of)} as they are ({type(error).__name__})"
            ) from error
