"""What a workload takes and costs: units by the same rules as the meter's, storage, indexes, backups, egress.

On demand is set against planned capacity: a planned unit costs the same whether it is used or not, so it is cheaper
only while enough of it is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from penstock.cost.capacity import query_pages, read_units, write_units
from penstock.cost.footprint import ABSENT, Image, index_units
from penstock.cost.monthly_cost import MonthlyCost, monthly_cost
from penstock.cost.price_list import HourlyPrices, PriceList, Prices
from penstock.cost.workload import FileLoad, PatternLoad, RecordLoad, Workload, patterns_of
from penstock.schema.shape import EntityShape, IndexShape, PatternShape

HOURS = 730
"Of a month."
DAYS = Decimal(HOURS) / 24
GB = 2**30
ITEM_BYTES = 100
"What DynamoDB stores of each item beside its attributes, in the table and in each index."
YEAR = 365


@dataclass(frozen=True, slots=True)
class LoadLine:
    """What one pattern, or one way of writing an entity, takes in a month."""

    what: str
    requests: int
    read_units: float = 0.0
    write_units: float = 0.0
    why: str = ""
    "How the units of one request come about."


@dataclass(frozen=True, slots=True)
class PlannedCapacity:
    """The same units as planned capacity."""

    reads: int
    "Units that are planned, for the busiest hour."
    writes: int
    cost: Decimal
    "Of the units alone, a month."
    break_even: Decimal
    "The part of the planned units that must be used for it to be cheaper than on demand."


@dataclass(frozen=True, slots=True)
class WorkloadEstimate:
    """What a month takes and costs."""

    lines: tuple[LoadLine, ...]
    gb: Decimal
    index_gb: Decimal
    file_gb: Decimal
    egress_gb: Decimal
    records: MonthlyCost
    files: MonthlyCost
    planned: PlannedCapacity

    @property
    def read_units(self) -> float:
        return sum(line.read_units for line in self.lines)

    @property
    def write_units(self) -> float:
        return sum(line.write_units for line in self.lines)

    @property
    def total(self) -> Decimal:
        return self.records.total + self.files.total

    @property
    def cheaper_planned(self) -> bool:
        return self.planned.cost < self.records.reads + self.records.writes


def estimate(workload: Workload, shapes: Iterable[EntityShape], prices: PriceList) -> WorkloadEstimate:
    """What a workload takes and costs at these prices."""
    entities = {shape.label: shape for shape in shapes}
    lines = tuple(_lines(workload, entities))
    gb, index_gb = _stored(workload, entities)
    reads, writes = sum(line.read_units for line in lines), sum(line.write_units for line in lines)
    records = monthly_cost(
        prices.dynamodb,
        reads,
        writes,
        gb,
        index_gb=index_gb,
        backup_gb=workload.backup_gb,
        point_in_time=workload.point_in_time,
        replicas=workload.replicas,
    )
    files = list(workload.files.values())
    file_gb = sum((_held(f.created, f.standing, f.kept_days) * f.bytes / GB for f in files), Decimal(0))
    egress_gb = sum((Decimal(f.read * f.bytes) * Decimal(str(f.egress)) / GB for f in files), Decimal(0))
    return WorkloadEstimate(
        lines,
        gb,
        index_gb,
        file_gb,
        egress_gb,
        records,
        _files_cost(files, file_gb, egress_gb, prices.s3),
        _planned(reads, writes, workload, prices),
    )


def _files_cost(files: list[FileLoad], gb: Decimal, egress_gb: Decimal, at: Prices) -> MonthlyCost:
    return monthly_cost(at, sum(f.read for f in files), sum(f.created for f in files), gb, egress_gb=egress_gb)


def _lines(workload: Workload, entities: Mapping[str, EntityShape]) -> Iterator[LoadLine]:
    for label, load in workload.records.items():
        yield from _record_lines(label, load, entities[label])
    patterns = patterns_of(entities.values())
    for label, asked in workload.patterns.items():
        entity = workload.records.get(label.rpartition(".")[0])
        yield _pattern_line(patterns[label], asked, asked.bytes or (entity.bytes if entity else 1))


def _record_lines(label: str, load: RecordLoad, shape: EntityShape) -> Iterator[LoadLine]:
    taken = [i for i in shape.indexes.values() if load.indexes is None or i.place.name in load.indexes]
    stands = _image(load, taken)
    updated, moved = _changed(stands, taken, _dates(shape)), _changed(stands, taken, _dates(shape) | _states(shape))
    yield from _write_lines(f"{label} created", load.created, ABSENT, stands, load)
    yield from _write_lines(f"{label} changed", load.changed - load.moved, stands, updated, load)
    yield from _write_lines(f"{label} moved", load.moved, stands, moved, load)
    yield from _write_lines(f"{label} deleted", load.deleted, stands, ABSENT, load)
    if load.read:
        units = read_units(load.bytes)
        yield LoadLine(
            f"{label} by key", load.read, read_units=load.read * units, why=f"{units:g} for {load.bytes:,} bytes"
        )


def _write_lines(what: str, times: int, before: Image, after: Image, load: RecordLoad) -> Iterator[LoadLine]:
    if not times:
        return
    table = write_units(load.bytes, transaction=load.in_transactions)
    indexes = index_units(before, after)
    why = f"{table:g} for {load.bytes:,} bytes" + (f", {indexes:g} for indexes" if indexes else "")
    yield LoadLine(what, times, write_units=times * (table + indexes), why=why)


def _image(load: RecordLoad, indexes: Iterable[IndexShape]) -> Image:
    return Image(load.bytes, {i.place.name: ("before",) for i in indexes}, {"some": "before"})


def _changed(image: Image, indexes: Iterable[IndexShape], fields: frozenset[str]) -> Image:
    """The same record after these fields and another one have changed."""
    moved = {i.place.name: ("after",) for i in indexes if i.watched & fields}
    return Image(image.size, {**image.entries, **moved}, {"some": "after"})


def _dates(shape: EntityShape) -> frozenset[str]:
    """What every change changes."""
    return frozenset(n for n in (shape.last_modified, shape.version) if n is not None)


def _states(shape: EntityShape) -> frozenset[str]:
    return frozenset(f.name for f in shape.states)


def _pattern_line(pattern: PatternShape, asked: PatternLoad, size: int) -> LoadLine:
    strong = pattern.index is None
    units = sum(read_units(page, strong=strong) for page in query_pages([size] * asked.records))
    how = "consistent" if strong else "of an index"
    why = f"{units:g} for {asked.records:,} of {size:,} bytes, {how}"
    return LoadLine(pattern.label, asked.requests, read_units=asked.requests * units, why=why)


def _stored(workload: Workload, entities: Mapping[str, EntityShape]) -> tuple[Decimal, Decimal]:
    """How much tables and indexes hold, on average."""
    table = indexes = Decimal(0)
    for label, load in workload.records.items():
        held = _held(load.created, load.standing, load.kept_days) * (load.bytes + ITEM_BYTES) / GB
        table += held
        indexes += held * len(entities[label].indexes if load.indexes is None else load.indexes)
    return table, indexes


def _held(created: int, standing: int, kept_days: int | None) -> Decimal:
    return Decimal(standing) + Decimal(created) * (kept_days or YEAR) / DAYS


def _planned(reads: float, writes: float, workload: Workload, prices: PriceList) -> PlannedCapacity:
    second = HOURS * 3600
    planned_reads = math.ceil(reads / second * workload.peak)
    planned_writes = math.ceil(writes / second * workload.peak)
    at = prices.provisioned
    hour = planned_reads * at.read_unit + planned_writes * at.write_unit * (1 + workload.replicas)
    return PlannedCapacity(planned_reads, planned_writes, hour * HOURS, break_even(prices.dynamodb, at))


def break_even(on_demand: Prices, planned: HourlyPrices) -> Decimal:
    """The part of planned units, of the kind for which it is larger, from which on planning is cheaper."""
    pairs = (planned.read_unit, on_demand.million_reads), (planned.write_unit, on_demand.million_writes)
    return max((hour * 1_000_000 / (million * 3600) for hour, million in pairs if million), default=Decimal(0))
