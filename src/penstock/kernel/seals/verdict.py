"""Verdicts: what was found in a trail, or in the checkpoints over all of them, and what could not be looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from penstock.schema.kinds import instant_text

_MOST = 1000
"So many findings are told one by one: whoever has altered a million lines must not fill the auditor's memory."


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was written."""

    kind: str
    """One word for programs. Of a line: altered, unhashed, unreadable. Of a seal's lines: missing, added, changed. Of
    files of an archive: archive. Of the seals: seal-missing, chain, register. Of the checkpoints: checkpoint-missing,
    checkpoint. Of what was kept elsewhere: expected."""
    where: str
    explanation: str


@dataclass(slots=True)
class Judgement:
    """Findings, in the order in which they were met."""

    findings: list[Finding] = field(default_factory=list, kw_only=True)
    untold: int = field(default=0, kw_only=True)
    "Findings beyond those that are told one by one."

    @property
    def sound(self) -> bool:
        return not self.findings

    def found(self, kind: str, where: str, explanation: str) -> None:
        if len(self.findings) < _MOST:
            self.findings.append(Finding(kind, where, explanation))
        else:
            self.untold += 1


@dataclass(slots=True)
class Verdict(Judgement):
    """What was found in a project's trail, and what could not be looked at."""

    project: str
    trail: str
    seals: int = 0
    sealed: int = 0
    "Lines that a seal covers."
    archived: int = 0
    "Of these, those that were moved to an archive."
    unsealed: int = 0
    "The newest lines, which no seal covers yet."
    until: datetime | None = None
    "Up to where the newest seal vouches."
    digest: str = ""
    "Of the newest seal; kept elsewhere, it vouches for this trail alone."
    expected: bool | None = None
    "Whether a seal has the digest that was kept elsewhere; None when none was given."
    checkpoint: int | None = None
    "The newest checkpoint that names the trail; zero when none does, None when none was looked at."

    @property
    def cannot_show(self) -> list[str]:
        """What this verdict does not say, in sentences."""
        which = f"after {instant_text(self.until, 6)}" if self.until else "of this trail"
        unnamed = (
            "No checkpoint names this trail yet: it is new, or was not sealed since Penstock writes checkpoints. If "
            "it were removed whole, with its row in the register, it would not show. Run: penstock audit seal"
        )
        return [
            f"No seal covers the {lines_in_words(self.unsealed)} {which} yet: one removed or added among them, or "
            f"newer, would not show.",
            "Somebody who can write to the store and computes all hashes and later seals anew is found out only by a "
            "digest that was kept elsewhere.",
            *([unnamed] if self.checkpoint == 0 else []),
        ]


def lines_in_words(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"
