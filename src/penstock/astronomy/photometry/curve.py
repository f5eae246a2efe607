"""From a table that was recognised to its light curve, with everything counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.astronomy.judgement import Assumption, FileFinding, FileVerdict
from penstock.astronomy.light_curve import LightCurve, Measurement, UnreadRow
from penstock.astronomy.photometry.band import UNKNOWN
from penstock.astronomy.photometry.column_map import BrightnessColumn
from penstock.astronomy.photometry.content import TableRefusal, refused
from penstock.astronomy.photometry.photometry_hints import PhotometryHints
from penstock.astronomy.photometry.recognised import RecognisedTable
from penstock.astronomy.photometry.row_reading import RowCause, RowReader, Tally, target_key
from penstock.astronomy.photometry.time_decision import TimeDecision, decided_time
from penstock.astronomy.photometry.time_reading import TimeReading, moment_of
from penstock.astronomy.photometry.unit import ratio

_MOST_TOLD = 50
"Words of bands, systems and flags that are told in a record."


@dataclass(frozen=True, slots=True)
class CurveReading:
    """A light curve that was read, whether it is good enough, and what was counted."""

    curve: LightCurve
    verdict: FileVerdict
    finding: FileFinding | None
    reading: TimeReading
    counts: dict[str, Any] = field(default_factory=dict)


def read_curve(table: RecognisedTable, hints: PhotometryHints) -> CurveReading:
    """The light curve of a table. A refused one has all its rows among the unread, each with the reason."""
    blocked = _unit_wanting(table)
    decision = _time(table, hints)
    if blocked is None and isinstance(decision, TableRefusal):
        blocked = decision
    target = _target(table, hints)
    if blocked is None and isinstance(target, TableRefusal):
        blocked = target
    if blocked is not None or isinstance(decision, TableRefusal) or isinstance(target, TableRefusal):
        assert blocked is not None
        return _refused(table, blocked)
    epoch = moment_of(hints.epoch or "") if table.columns.time is None else None
    reader = RowReader(table, decision.reading, epoch=epoch, target=target.key)
    return _read(table, reader, decision, (*table.assumptions, *decision.assumptions, *target.assumptions))


def _read(
    table: RecognisedTable, reader: RowReader, decision: TimeDecision, assumptions: tuple[Assumption, ...]
) -> CurveReading:
    measurements: list[Measurement] = []
    unread: list[UnreadRow] = []
    for row in table.rows:
        found, left = reader.read(row)
        measurements += found
        if left is not None:
            unread.append(left)
    measurements.sort(key=lambda each: (each.jd, each.row))
    tally = reader.tally
    curve = LightCurve(
        tuple(measurements),
        tuple(unread),
        decision.reading.name,
        dict(tally.words),
        _source(table, decision.reading, tally),
        (*assumptions, *_unscaled(decision.reading), *_seen(table, tally, len(table.rows))),
    )
    verdict, finding = _judged(curve, tally, len(table.rows))
    return CurveReading(curve, verdict, finding, decision.reading, _counts(table, curve, tally))


def _time(table: RecognisedTable, hints: PhotometryHints) -> TimeDecision | TableRefusal:
    if table.columns.time is None:
        if hints.epoch is not None:
            why = "the table has no times; a person told the moment of all its rows"
            return TimeDecision(TimeReading(), (Assumption("time", hints.epoch, why),))
        said = "No column of the table tells times, so it is no light curve. Hint epoch, if all rows have one moment."
        return refused(FileVerdict.QUARANTINED, "NO_TIME", said, names=list(table.names[:100]))
    probe = RowReader(table, TimeReading(), epoch=None, target="")
    cells = [row.cells[table.columns.time] for row in table.rows if probe.has_value(row)]
    if not cells:
        return TimeDecision(table.columns.time_reading or TimeReading())
    return decided_time(table.columns.time_reading, cells, outburst=table.outburst, hints=hints)


def _unit_wanting(table: RecognisedTable) -> TableRefusal | None:
    if table.columns.unit is not None:
        return None
    wanting = [each.value for each in table.columns.brightness if not _has_units(each)]
    if not wanting:
        return None
    name = table.names[wanting[0]][:80] if wanting[0] < len(table.names) else str(wanting[0])
    said = f"Column {name!r} is a brightness; its unit, or that of its uncertainty, is not known. Hint unit."
    return refused(FileVerdict.QUARANTINED, "UNKNOWN_UNIT", said, column=name)


def _has_units(column: BrightnessColumn) -> bool:
    return bool(column.unit) and (not column.error_unit or ratio(column.error_unit, to=column.unit) is not None)


@dataclass(frozen=True, slots=True)
class _Target:
    key: str = ""
    assumptions: tuple[Assumption, ...] = ()


def _target(table: RecognisedTable, hints: PhotometryHints) -> _Target | TableRefusal:
    """The object whose rows are read: the only one, or the one that is asked for."""
    at, wanted = table.columns.target, hints.target or table.target
    if at is None:
        return _Target()
    names: dict[str, str] = {}
    for row in table.rows:
        if len(row.cells) == table.width:
            names.setdefault(target_key(row.cells[at]), row.cells[at])
    names.pop("", None)
    if wanted and target_key(wanted) in names:
        return _Target(target_key(wanted) if len(names) > 1 else "")
    if len(names) <= 1:
        return _Target(assumptions=_other_name(wanted, next(iter(names.values()), "")))
    some = sorted(names.values())[:20]
    said = f"The table is about {len(names)} objects, such as {some[0][:40]!r} and {some[1][:40]!r}. Hint target."
    return refused(FileVerdict.QUARANTINED, "SEVERAL_OBJECTS", said, objects=[name[:80] for name in some])


def _other_name(wanted: str, found: str) -> tuple[Assumption, ...]:
    if not wanted or not found:
        return ()
    return (Assumption("target", wanted[:80], f"all rows are about {found[:80]!r}, which is taken for the same"),)


def _refused(table: RecognisedTable, refusal: TableRefusal) -> CurveReading:
    why = f"the whole table waits: {refusal.finding.code}"
    unread = tuple(UnreadRow(row.number, row.text, row.why or why) for row in table.rows)
    reading = table.columns.time_reading or TimeReading()
    curve = LightCurve((), unread, reading.name, source=dict(table.source), assumptions=table.assumptions)
    return CurveReading(curve, refusal.verdict, refusal.finding, reading, _counts(table, curve, Tally()))


def _judged(curve: LightCurve, tally: Tally, rows: int) -> tuple[FileVerdict, FileFinding | None]:
    wrong = sum(count for cause, count in tally.causes.items() if cause not in (RowCause.NO_VALUE, RowCause.TARGET))
    details = {"rows": rows, "unread": len(curve.unread), "causes": dict(sorted(tally.causes.items()))}
    if rows == 0:
        return FileVerdict.TERMINAL_INVALID, FileFinding(
            "NO_ROWS", "The table has no rows. Send one with data.", details
        )
    if not curve.measurements and wrong == 0:
        said = f"None of the {rows} rows has a brightness. Send a table with measurements."
        return FileVerdict.QUARANTINED, FileFinding("NO_VALUES", said, details)
    if wrong * 2 > rows - tally.causes[RowCause.NO_VALUE] - tally.causes[RowCause.TARGET]:
        first = curve.unread[0]
        said = f"{wrong} of {rows} rows cannot be read; row {first.row}: {first.why}. Correct the table or the ticket."
        return FileVerdict.QUARANTINED, FileFinding("MOSTLY_UNREADABLE", said, details)
    return FileVerdict.VALID, None


def _counts(table: RecognisedTable, curve: LightCurve, tally: Tally) -> dict[str, Any]:
    return {
        "rows": len(table.rows),
        "measurements": len(curve.measurements),
        "unread": len(curve.unread),
        "without_value": tally.causes[RowCause.NO_VALUE],
        "causes": dict(sorted(tally.causes.items())),
        "limits": sum(each.upper_limit for each in curve.measurements),
        "duplicates": _duplicates(curve.measurements),
        "blank_values": tally.blank_values,
        "uncertain": tally.uncertain,
        "bands": dict(sorted(Counter(each.band for each in curve.measurements).items())[:_MOST_TOLD]),
        "validation": dict(sorted(tally.validations.items())[:_MOST_TOLD]),
    }


def _duplicates(measurements: Sequence[Measurement]) -> int:
    keys = {(m.jd, m.value, m.unit, m.uncertainty, m.band, m.upper_limit, m.observer) for m in measurements}
    return len(measurements) - len(keys)


def _source(table: RecognisedTable, reading: TimeReading, tally: Tally) -> dict[str, Any]:
    source: dict[str, Any] = dict(table.source) | {"time_written_as": reading.written}
    if reading.scale:
        source["time_scale"] = reading.scale
    if tally.systems:
        source["filter_systems"] = dict(sorted(tally.systems.items())[:_MOST_TOLD])
    return source


def _unscaled(reading: TimeReading) -> tuple[Assumption, ...]:
    """Times of the Sun's centre or the barycentre are told in UTC by some and in TDB by others, a minute apart."""
    if reading.scale or reading.system == "JD":
        return ()
    why = f"the source says {reading.system} and no time scale; UTC and TDB are about 69 s apart today"
    return (Assumption("time_scale", UNKNOWN, why),)


def _seen(table: RecognisedTable, tally: Tally, rows: int) -> list[Assumption]:
    """What showed itself only while rows were read, and is told."""
    found: list[Assumption] = []
    if tally.coarse:
        why = f"{tally.coarse} of {rows} times are written to {tally.coarsest:g} days only, such as {tally.example!r}"
        found.append(Assumption("time_precision", f"±{tally.coarsest / 2:g} d", why))
    if tally.whole_days:
        why = f"{tally.whole_days} of {rows} dates tell no time of day; 0h universal time is taken"
        found.append(Assumption("time_precision", "1 d", why))
    if tally.less_than and not table.less_is_fainter:
        why = f"{tally.less_than} magnitudes have a < before them, which is taken for: fainter than"
        found.append(Assumption("limit", "fainter", why))
    if tally.bad_errors:
        found.append(Assumption("uncertainty", "unknown", f"{tally.bad_errors} uncertainties are less than 0"))
    if tally.decimal_commas:
        found.append(Assumption("decimal_comma", ",", "commas in numbers are taken for decimal points"))
    for word, count in sorted(tally.unknown_bands.items())[:_MOST_TOLD]:
        why = f"{count} measurements have a band that is not known" if word else f"{count} measurements tell no band"
        found.append(Assumption("band", word or UNKNOWN, why))
    return found
