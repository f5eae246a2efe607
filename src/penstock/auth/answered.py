"""The change that a request is answered with: what it does and what it is answered become true together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from penstock.errors import DeclarationError
from penstock.kernel.change import Change
from penstock.kernel.idempotency import Claim
from penstock.kernel.store import Store

V = TypeVar("V")
Keeping = Callable[[Any], dict[str, Any]]
"Makes of an answer what is kept of it for a repetition of its request."


class AnsweredChange(Change):
    """A change by a caller that ends the claim of their request; ``answer`` says what the request is answered with.

        with caller.change() as change:
            change.create(film)
            return change.answer(FilmView.of(film))

    One that was not told its answer is refused: the request could happen once, but not be answered again.
    """

    def __init__(
        self,
        store: Store,
        *,
        by: str,
        why: str | None = None,
        once: Claim | None = None,
        keeping: Keeping | None = None,
    ) -> None:
        super().__init__(store, by=by, why=why, project=store.project, once=once)
        self._keeping = keeping

    def answer(self, view: V) -> V:
        """Say what the request is answered with, as the route would return it; it is kept with the commit."""
        if self._keeping is not None:
            self.result = self._keeping(view)
        return view

    def commit(self) -> None:
        if self._keeping is not None and self.result is None:
            raise DeclarationError(
                "a change by a caller was not told what their request is answered with; say it with change.answer(...)"
                " before the block ends, or keep in change.result what the route's again=... needs"
            )
        super().commit()
