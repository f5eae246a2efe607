"""A table that was recognised: what it is, why, and where in its rows stands what."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from penstock.astronomy.judgement import Assumption
from penstock.astronomy.photometry.column_map import ColumnMap
from penstock.astronomy.photometry.raw_table import RawRow


@dataclass(frozen=True, slots=True)
class RecognisedTable:
    """A table and the map of its columns."""

    form: str
    "ticket, hints, aavso_download, aavso_extended, aavso_visual, names or votable."
    why: str
    columns: ColumnMap
    rows: Collection[RawRow]
    width: int
    "How many cells a row has."
    delimiter: str = ""
    names: tuple[str, ...] = ()
    header_line: int | None = None
    unused: tuple[str, ...] = ()
    comments: int = 0
    source: dict[str, Any] = field(default_factory=dict)
    band: str = ""
    "The band of all rows, where neither rows nor columns tell one."
    target: str = ""
    "The object that the table is to be about; empty: the one that it is about."
    telescope: str | None = None
    observer: str | None = None
    outburst: str | None = None
    less_is_fainter: bool = False
    "A < before a magnitude surely means that it was not reached: AAVSO writes it so."
    assumptions: tuple[Assumption, ...] = ()

    def record(self) -> dict[str, Any]:
        """What JSON can say of it."""
        told: dict[str, Any] = {
            "form": self.form,
            "why": self.why,
            "delimiter": self.delimiter,
            "width": self.width,
            "columns": self.columns.record(),
            "comments": self.comments,
        }
        if self.names:
            told["header"] = {"line": self.header_line, "names": [name[:80] for name in self.names[:100]]}
            told["unused"] = list(self.unused)
        return told
