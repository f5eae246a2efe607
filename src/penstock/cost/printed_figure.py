"""A figure as a document prints it, beside what it comes to by DynamoDB's rules and dated prices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.cost.price_list import PriceList


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """One statement of a document about what something takes or costs."""

    what: str
    printed: str
    corrected: Callable[[PriceList], str]
    why: str
    "What is wrong with it; empty where nothing is."
    id: str
    "The statement, as the documents are numbered."
