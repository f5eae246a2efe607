"""VOTables as archives write them, made here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

SSA_FIELDS = {
    "AcRef": "ssa:Access.Reference",
    "Format": "ssa:Access.Format",
    "Title": "ssa:DataID.Title",
    "PubDID": "ssa:Curation.PublisherDID",
    "Version": "ssa:DataID.Version",
    "Instrument": "ssa:DataID.Instrument",
    "Pos": "ssa:Target.Pos",
    "MJD": "ssa:Char.TimeAxis.Coverage.Location.Value",
    "Start": "ssa:Char.SpectralAxis.Coverage.Bounds.Start",
    "Stop": "ssa:Char.SpectralAxis.Coverage.Bounds.Stop",
}
_TYPES = {"Pos": 'datatype="double" arraysize="2" unit="deg"', "MJD": 'datatype="double" unit="d"'}
_LENGTH = 'datatype="double" unit="m"'
_TEXT = 'datatype="char" arraysize="*"'
OBSCORE_FIELDS = [
    "dataproduct_type",
    "obs_publisher_did",
    "access_url",
    "access_format",
    "access_estsize",
    "target_name",
    "s_ra",
    "s_dec",
    "t_min",
    "em_min",
    "em_max",
    "facility_name",
    "instrument_name",
    "obs_title",
]
_NUMBERS = {"access_estsize": "kbyte", "s_ra": "deg", "s_dec": "deg", "t_min": "d", "em_min": "m", "em_max": "m"}


def ssa_table(*rows: dict[str, Any], status: str = "OK", said: str = "", table: str = "") -> bytes:
    """An answer to an SSA query."""
    fields = [
        f'<FIELD name="{name}" utype="{utype}" {_TYPES.get(name, _LENGTH if name in ("Start", "Stop") else _TEXT)}/>'
        for name, utype in SSA_FIELDS.items()
    ]
    return _table(fields, [[row.get(name, "") for name in SSA_FIELDS] for row in rows], status, said, table)


def obscore_table(*rows: dict[str, Any], status: str = "OK", said: str = "", table: str = "") -> bytes:
    """An answer to a query of ObsCore."""
    fields = []
    for name in OBSCORE_FIELDS:
        kind = f'datatype="double" unit="{_NUMBERS[name]}"' if name in _NUMBERS else _TEXT
        fields.append(f'<FIELD name="{name}" {kind}/>')
    usual = {"dataproduct_type": "spectrum"}
    return _table(
        fields, [[{**usual, **row}.get(name, "") for name in OBSCORE_FIELDS] for row in rows], status, said, table
    )


def links_table(*rows: tuple[str, str, str]) -> bytes:
    """A list of links: semantics, URL, content type."""
    fields = [f'<FIELD name="{name}" {_TEXT}/>' for name in ("ID", "semantics", "access_url", "content_type")]
    return _table(fields, [["ivo://x", *row] for row in rows], "OK", "", "")


def _table(fields: Sequence[str], rows: Sequence[Sequence[Any]], status: str, said: str, table: str) -> bytes:
    cells = "".join(f"<TR>{''.join(f'<TD>{escape(str(cell))}</TD>' for cell in row)}</TR>" for row in rows)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<VOTABLE xmlns="http://www.ivoa.net/xml/VOTable/v1.3" version="1.3">'
        f'<RESOURCE type="results"><INFO name="QUERY_STATUS" value={quoteattr(status)}>{escape(said)}</INFO>'
        f"<TABLE {table}>{''.join(fields)}<DATA><TABLEDATA>{cells}</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"
    ).encode()
