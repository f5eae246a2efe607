"""What an engine did, or would do, to hold what was declared."""

from __future__ import annotations

from msgspec import Struct

ADVICE = "for an administrator"
"The kind of a step that the store's user may not take; its detail says who can, and how."


class PlanStep(Struct, frozen=True):
    """One thing ``ensure`` did or would do: never a removal."""

    kind: str
    name: str
    detail: str = ""

    @property
    def is_advice(self) -> bool:
        """Is it for somebody else to do?"""
        return self.kind == ADVICE
