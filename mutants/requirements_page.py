"""The page that says what proves each requirement.

python -m mutants.requirements_page > docs/reference/requirements.md
"""

from __future__ import annotations

from mutants.proofs import Proof, Record, record
from mutants.requirements import FLAWS, STATEMENTS, ids

_HEAD = """# Requirements and their proofs

The documents that the five systems come from are numbered, statement by statement: `MV-46` is one, `F-MV-6` a flaw in
them and its mending. A test that proves one begins its docstring with the id. That it can fail is shown by a *mutant*:
a line of the source, broken as the table says, which that test notices. `make test` checks that ids, tests and lines
are still there; `make test-long` breaks every line again. The record is `mutants/proofs.toml`; `make proofs` looks for
what is missing.
"""
_TITLES = {
    "MV": "Music videos",
    "AC": "Asset creator",
    "VM": "Videos",
    "TA": "Speech",
    "NC": "Novae",
    "X": "All five",
}


def requirements_page(kept: Record) -> str:
    """The whole page."""
    return _HEAD + _counts(kept) + "".join(_section(document, kept) for document in _TITLES)


def _counts(kept: Record) -> str:
    whole = sum(STATEMENTS.values()) + sum(FLAWS.values())
    return (
        f"\nOf {whole} statements and flaws {len(kept.proofs)} are proved so, {len(kept.prose)} are no behaviour of the"
        f" software, and for {len(kept.unproved)} no mutant is recorded yet: a test names each of them.\n"
    )


def _section(document: str, kept: Record) -> str:
    mine = [each for each in ids() if each.split("-")[-2] == document]
    rows = [f"| {each} | {_row(each, kept)} |" for each in mine]
    return f"\n## {_TITLES[document]}\n\n| id | test | line | broken |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"


def _row(id: str, kept: Record) -> str:
    if id in kept.proofs:
        return _proved(kept.proofs[id])
    return f"no behaviour: {kept.prose[id]} | | " if id in kept.prose else "not recorded yet | | "


def _proved(proof: Proof) -> str:
    mutant = proof.mutant
    file = mutant.path.removeprefix("src/penstock/")
    where = f"`{file}` {mutant.function}".strip()
    return f"`{proof.test.removeprefix('tests/')}` | {where} | {_code(mutant.before)} → {_code(mutant.after)}"


def _code(text: str) -> str:
    """On one line, and nothing in it that a table would end at."""
    joined = " ".join(line.strip() for line in text.splitlines())
    joined = joined if len(joined) <= 140 else joined[:139] + "…"
    return f"`` {joined} ``".replace("|", "\\|")


if __name__ == "__main__":
    print(requirements_page(record()), end="")
