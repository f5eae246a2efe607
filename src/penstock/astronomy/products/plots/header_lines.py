"""Which lines of a header a person wants to see first who must say what a file's axis and units are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from penstock.astronomy.judgement import FileFinding

_IDLE = (
    "COMMENT",
    "HISTORY",
    "        ",
    "END",
    "CONTINUE",
    "CHECKSUM",
    "DATASUM",
    "EXTEND",
    "SIMPLE",
    "PCOUNT",
    "GCOUNT",
)
_AXIS = re.compile(
    r"(?:CTYPE|CUNIT|CRVAL|CRPIX|CDELT|CD\d_|DC-FLAG|WAT\d|BUNIT|XUNITS|YUNITS|UNITS|COEFF|DISP|TTYPE|TUNIT|WAVE|LAMBDA"
    r"|APNUM|BANDID|ARRAY|VACUUM|SPECSYS|AIRORVAC|DOPCOR|FLUXUNIT)"
)
_ABOUT = re.compile(r"(?:OBJECT|TARG|TELESCOP|INSTRUME|DATE-OBS|ORIGIN|NAXIS|XTENSION|EXTNAME|EXPTIME|TFORM|BITPIX)")


def lines_that_matter(header: Sequence[str], finding: FileFinding) -> list[str]:
    """The line that the finding is about, those of axis and units, those of the object, then the rest; no comments."""
    named = str(finding.details.get("card") or "")
    lines = [line for line in dict.fromkeys(header) if line.strip() and not line.startswith(_IDLE)]
    return sorted(lines, key=lambda line: _rank(line, named))


def _rank(line: str, named: str) -> int:
    if named and line.startswith(named):
        return 0
    if _AXIS.match(line):
        return 1
    return 2 if _ABOUT.match(line) else 3
