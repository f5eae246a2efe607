"""What the judgement of many spectra leaves behind in memory: the most that a process ever had, in kilobytes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.contender import Limit
from bench.measure import Contest, Effort, Round
from bench.topic import Contests

MEMORY = "spectra-memory.judging"
GROUPS = {MEMORY: "kilobytes of a process at most, in the place of µs"}
FEW, MANY = "200 files", "2,000 files"
BASELINE = FEW
OWN = (FEW, MANY)
LIMITS = (Limit(f"{MEMORY}: 2,000 files take at most 1.05 of the memory of 200", MEMORY, MANY, FEW, 1.05),)
SIZES = {FEW: 200, MANY: 2_000}
_ROUNDS = 3
_PROGRAM = """
import resource, sys, tempfile
from pathlib import Path
from bench.spectra import SAMPLES, _judge, _made
with tempfile.TemporaryDirectory() as folder:
    files = sorted(SAMPLES.glob("*.fits")) or _made(Path(folder))
    for number in range(int(sys.argv[1])):
        _judge(files[number % len(files)])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """A process of its own for each, as memory that was once had is not given back."""
    for group in groups:
        rounds: dict[str, Round] = {
            name: partial(_kilobytes, effort.sized(files, least=20))
            for name, files in SIZES.items()
            if effort.wants(name)
        }
        yield group, Contest(rounds, _ROUNDS)


def _kilobytes(files: int) -> float:
    said = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(files)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    return float(said.stdout)
