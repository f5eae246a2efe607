"""Looks for proofs that are missing, and adds them to the record: ``make proofs``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mutants.mutant import ROOT, Mutant
from mutants.proofs import PROOFS, Proof, Record, complaints, record, written
from mutants.requirements import ids, naming_tests
from mutants.requirements_page import requirements_page
from mutants.tree import Tree

FOUND = ROOT / "build" / "mutants" / "proofs.jsonl"
PAGE = ROOT / "docs" / "reference" / "requirements.md"
REQUIREMENTS = ROOT.parent / "shared" / "requirements.md"


def main(files: Sequence[str]) -> int:
    """Try the files, or all that name an id which is not proved, one after the other; 1 if some are left."""
    tree = Tree()
    kept = record()
    FOUND.parent.mkdir(parents=True, exist_ok=True)
    FOUND.write_text("".join(json.dumps({"id": each_id}) + "\n" for each_id in (*kept.proofs, *kept.prose)))
    for file in files or wanted(tree, kept):
        _try(file)
        kept = with_found(tree, record(), FOUND)
        PROOFS.write_text(written(kept))
        PAGE.write_text(requirements_page(kept))
        print(f"{file}: {len(kept.proofs)} proved, {len(kept.unproved)} left", flush=True)
    print("left:", *kept.unproved)
    return 1 if kept.unproved else 0


def wanted(tree: Tree, kept: Record) -> list[str]:
    """The files whose tests name what is not proved, those first that name most of it."""
    tests = naming_tests(tree)
    named = [test.partition("::")[0] for each_id in kept.unproved for test in tests.get(each_id, [])]
    return sorted(set(named), key=lambda file: (-named.count(file), file))


def _try(file: str) -> None:
    environment = {**os.environ, "PROVED": str(FOUND), "REQUIREMENTS": str(REQUIREMENTS)}
    environment.setdefault("PENSTOCK_TEST_ENGINES", "sqlite")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutants.proving", "-m", "not long", file]
    subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False)


def with_found(tree: Tree, kept: Record, path: Path) -> Record:
    """The record with what stands in a file of found ones, as long as it is sound."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    proofs = {each["id"]: _proof(each) for each in lines if "test" in each and each["id"] in ids()}
    more = {each_id: each for each_id, each in proofs.items() if not complaints(tree, Record({each_id: each}, {}))}
    return replace(kept, proofs={**more, **kept.proofs})


def _proof(told: dict[str, str]) -> Proof:
    nth = int(told["nth"])
    mutant = Mutant(told["path"], told["function"], told["before"], told["after"], told["kind"], nth)
    return Proof(told["id"], told["test"], mutant)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
