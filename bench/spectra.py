"""What the judgement of a spectrum costs, beside astropy's own reading of the same file: CPU of one process.

The files are the IRAF samples, or a few that are made here where the folder of samples is not beside the repository.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from bench.contender import Limit
from bench.measure import Contest, Effort, Round
from bench.topic import Contests
from penstock.astronomy.judgement import Verdict
from penstock.astronomy.spectra import judge_spectrum

JUDGING = "spectra.judging"
GROUPS = {JUDGING: "CPU of a file"}
ASTROPY, JUDGED, BESIDE = "fits.open and data", "judge_spectrum", "judge_spectrum less that reading"
BASELINE = ASTROPY
OWN = (JUDGED, BESIDE)
LIMITS = (Limit(f"{JUDGING}: at most 3 ms beside astropy's reading", JUDGING, BESIDE, None, 3000.0),)
SAMPLES = Path(__file__).parents[2] / "shared" / "data" / "spectra_fits" / "iraf"
_LEAST = 0.001
"Microseconds; a judgement that takes no longer than the reading still has a ratio to it."


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """All files in turn, read by astropy and judged."""
    with TemporaryDirectory() as folder:
        files = sorted(SAMPLES.glob("*.fits")) or _made(Path(folder))
        passes = effort.sized(4)
        for group in groups:
            rounds: dict[str, Round] = {
                ASTROPY: lambda: _micros(_read, files, passes),
                JUDGED: lambda: _micros(_judge, files, passes),
                BESIDE: lambda: max(_LEAST, _micros(_judge, files, passes) - _micros(_read, files, passes)),
            }
            wanted = {name: measure for name, measure in rounds.items() if effort.wants(name)}
            for measure in wanted.values():
                measure()
            yield group, Contest(wanted, effort.rounds)


def _micros(work: Callable[[Path], None], files: Sequence[Path], passes: int) -> float:
    begun = process_time()
    for _ in range(passes):
        for file in files:
            work(file)
    return (process_time() - begun) / (passes * len(files)) * 1e6


def _read(file: Path) -> None:
    from astropy.io import fits

    with fits.open(file, memmap=False) as hdus:
        for hdu in hdus:
            assert hdu.data is not None


def _judge(file: Path) -> None:
    judged = judge_spectrum(file)
    assert judged.verdict is Verdict.VALID, judged.finding


def _made(folder: Path) -> list[Path]:
    """Spectra like those of IRAF, of several lengths."""
    from astropy.io import fits

    for length in (1200, 2500, 4000, 6000):
        hdu = fits.PrimaryHDU((1.0 + np.sin(np.arange(length) / 50.0)).astype(np.float32))
        axis = {"CTYPE1": "LINEAR", "CRVAL1": 3600.0, "CRPIX1": 1.0, "CD1_1": 1.0, "DC-FLAG": 0, "BUNIT": "erg/cm2/s/A"}
        hdu.header.update({**axis, "WAT0_001": "system=equispec", "WAT1_001": "wtype=linear units=angstroms"})
        hdu.header.update({f"KEY{number}": number for number in range(150)})
        hdu.writeto(folder / f"{length}.fits")
    return sorted(folder.glob("*.fits"))
