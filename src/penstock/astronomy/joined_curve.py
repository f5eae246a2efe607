"""One light curve out of several tables: each row keeps its source, and no two time systems go under one name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from penstock.astronomy.judgement import Assumption
from penstock.astronomy.light_curve import LightCurve, Measurement
from penstock.astronomy.light_travel import COMMON, FURTHEST, in_common_system
from penstock.astronomy.sky_position import Position

MOST_MEASUREMENTS = 1_000_000
_MOST_TOLD = 200
"Tables that are told one by one, and assumptions."
_UTC = ("JD", COMMON)
"JD is universal time wherever nothing else is said."


@dataclass(frozen=True, slots=True)
class CurveMember:
    """A table of a joined light curve."""

    dataset: str
    curve: LightCurve
    told: dict[str, Any] = field(default_factory=dict)
    "What else is to be said of it, such as its provider."


def joined_curve(members: Sequence[CurveMember], *, left_out: Sequence[str] = ()) -> LightCurve:
    """All measurements in order of time, as their tables tell them; the system is mixed if they have several."""
    points = [_of(member, point) for member in members for point in member.curve.measurements]
    points.sort(key=lambda each: (each.jd, each.band, each.value, each.dataset or ""))
    systems = sorted({member.curve.time_system for member in members if member.curve.measurements})
    bands = {word: band for member in members for word, band in member.curve.bands.items()}
    told: dict[str, Any] = {"datasets": len(members), "left_out": list(left_out), "time_systems": systems}
    told["members"] = [_member(member) for member in members[:_MOST_TOLD]]
    unread = tuple(replace(row, dataset=member.dataset) for member in members for row in member.curve.unread)
    return LightCurve(
        tuple(points[:MOST_MEASUREMENTS]), unread, system_words(systems), bands, told, tuple(_assumed(members))
    )


def system_words(systems: Sequence[str]) -> str:
    """The name of one system, or that there are several."""
    if len(systems) <= 1:
        return systems[0] if systems else "JD"
    return f"mixed: {', '.join(systems)} (differ by up to {FURTHEST})"


def in_one_system(curve: LightCurve, position: Position | None) -> LightCurve:
    """A joined light curve with all times in universal time at the Earth; as it is, where that cannot be told.

    Each row keeps the time that its table tells, and its system.
    """
    systems = {each.time_system or curve.time_system for each in curve.measurements}
    if len(systems) <= 1 or position is None:
        return curve
    converted = {system: _converted(curve, system, position) for system in systems}
    if any(each is None for each in converted.values()):
        return curve
    queues = {system: iter(times or ()) for system, times in converted.items()}
    points = [_moved(each, next(queues[each.time_system or curve.time_system])) for each in curve.measurements]
    points.sort(key=lambda each: (each.jd, each.band, each.value, each.dataset or ""))
    return replace(
        curve,
        measurements=tuple(points),
        time_system=COMMON,
        assumptions=(*_of_conversion(sorted(systems)), *curve.assumptions),
    )


def _converted(curve: LightCurve, system: str, position: Position) -> list[float] | None:
    own = [each.jd for each in curve.measurements if (each.time_system or curve.time_system) == system]
    if system in _UTC:
        return own
    found = in_common_system(np.array(own, dtype=np.float64), system=system, position=position)
    return None if found is None else [float(each) for each in found]


def _moved(point: Measurement, jd: float) -> Measurement:
    if point.time_system in _UTC:
        return replace(point, time_system=COMMON, told_jd=point.jd, told_time_system=point.time_system)
    return replace(point, jd=jd, time_system=COMMON, told_jd=point.jd, told_time_system=point.time_system)


def _of_conversion(systems: Sequence[str]) -> Iterator[Assumption]:
    others = [system for system in systems if system not in _UTC]
    why = (
        f"times in {', '.join(others)} were converted to universal time at the Earth, for the position of the nova and "
        "an observer at the Earth's centre; source_jd has them as they were told"
    )
    yield Assumption("time_system", COMMON, why)
    for system in systems:
        if "_" not in system:
            scale = "TDB" if system == "BJD" else "UTC"
            yield Assumption("time_scale", scale, f"{system} is told without a time scale and was taken as {scale}")


def _of(member: CurveMember, point: Measurement) -> Measurement:
    return replace(point, dataset=member.dataset, time_system=point.time_system or member.curve.time_system)


def _member(member: CurveMember) -> dict[str, Any]:
    curve = member.curve
    return member.told | {
        "dataset_id": member.dataset,
        "rows": len(curve.measurements),
        "rows_not_read": len(curve.unread),
        "time_system": curve.time_system,
        "assumptions": [f"{each.about} = {each.value}: {each.why}"[:300] for each in curve.assumptions[:20]],
    }


def _assumed(members: Sequence[CurveMember]) -> Iterator[Assumption]:
    """What was assumed of any table, once, with the tables that it was assumed of."""
    found: dict[Assumption, list[str]] = {}
    for member in members:
        for each in member.curve.assumptions:
            found.setdefault(each, []).append(member.dataset)
    for each, datasets in list(found.items())[:_MOST_TOLD]:
        more = f" and {len(datasets) - 3} more" if len(datasets) > 3 else ""
        yield replace(each, why=f"{each.why} (dataset {', '.join(datasets[:3])}{more})")
