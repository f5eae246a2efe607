"""The record of what proves each requirement: a test that names it, and a mutant which that test kills."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mutants.mutant import Gone, Mutant
from mutants.requirements import ids, naming_tests
from mutants.tree import Tree

PROOFS = Path(__file__).parent / "proofs.toml"


@dataclass(frozen=True)
class Proof:
    """One requirement, proved."""

    id: str
    test: str
    mutant: Mutant


@dataclass(frozen=True)
class Record:
    """All of them; and those that are no behaviour, with the reason."""

    proofs: Mapping[str, Proof]
    prose: Mapping[str, str]

    @property
    def unproved(self) -> list[str]:
        """Those that a test names, and no mutant is recorded for yet."""
        return [each for each in ids() if each not in self.proofs and each not in self.prose]


def record(path: Path = PROOFS) -> Record:
    """As it stands in the file."""
    told = tomllib.loads(path.read_text())
    proofs = {each_id: _proof(each_id, each) for each_id, each in told.get("proof", {}).items()}
    return Record(proofs, told.get("prose", {}))


def _proof(id: str, told: Mapping[str, str]) -> Proof:
    nth = int(told.get("nth", 0))
    return Proof(id, told["test"], Mutant(told["file"], told["function"], told["before"], told["after"], nth=nth))


def complaints(tree: Tree, kept: Record) -> list[str]:
    """What is recorded of an id, a test or a line that there is not."""
    known, tests = set(ids()), naming_tests(tree)
    strange = [each for each in (*kept.proofs, *kept.prose) if each not in known]
    found = [f"{each}: there is no such requirement" for each in strange]
    found += [f"{each_id}: proved, and said to be no behaviour" for each_id in kept.proofs if each_id in kept.prose]
    for proof in kept.proofs.values():
        if proof.test not in tests.get(proof.id, []):
            found.append(f"{proof.id}: {proof.test} is no test that names it")
        try:
            proof.mutant.applied(tree.text(proof.mutant.path))
        except (Gone, FileNotFoundError) as gone:
            found.append(f"{proof.id}: {gone}")
    return found


def written(kept: Record) -> str:
    """The file of a record."""
    order = {each_id: number for number, each_id in enumerate(ids())}
    lines = [_HEAD, "[prose]"]
    lines += [f"{each_id} = {_text(kept.prose[each_id])}" for each_id in sorted(kept.prose, key=order.__getitem__)]
    for each_id in sorted(kept.proofs, key=order.__getitem__):
        proof, mutant = kept.proofs[each_id], kept.proofs[each_id].mutant
        fields = {"test": proof.test, "file": mutant.path, "function": mutant.function}
        fields |= {"before": mutant.before, "after": mutant.after}
        lines += ["", f"[proof.{each_id}]", *(f"{name} = {_text(value)}" for name, value in fields.items())]
        lines += [f"nth = {mutant.nth}"] if mutant.nth else []
    return "\n".join(lines) + "\n"


_HEAD = """# What proves each requirement: a test that names it, and a line which, broken so, that test notices.
# `python -m mutants.proofs_found` adds what `make proofs` has found; docs/reference/requirements.md is made from it.
"""


def _text(value: str) -> str:
    """A text of TOML, in one line where it has one, and as it is written where that can be."""
    if '"' in value and "'" not in value and "\n" not in value:
        return f"'{value}'"
    if "\n" in value and "'''" not in value:
        return f"'''\n{value}'''"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
