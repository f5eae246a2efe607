"""What an engine did, or would do, to hold what was declared."""

from __future__ import annotations

from msgspec import Struct

from penstock.schema.differences import Takes

ADVICE = "for an administrator"
"The kind of a step that the store's user may not take; its detail says who can, and how."
OLDER = "older declaration"
"The kind of what is told of a declaration that the store has left behind."
_TOLD = frozenset({ADVICE, OLDER, *(str(takes) for takes in Takes if takes is not Takes.NOTHING_MORE)})


class PlanStep(Struct, frozen=True):
    """One thing ``ensure`` did or would do, never the removal of data; or something that it cannot do, and tells."""

    kind: str
    name: str
    detail: str = ""

    @property
    def is_advice(self) -> bool:
        """Is it told alone, as ensuring does not do it?"""
        return self.kind in _TOLD
