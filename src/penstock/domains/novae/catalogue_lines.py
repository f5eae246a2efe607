"""Novae, datasets and runs as a terminal shows them: in a line, in a table, as data for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from rich.table import Table
from rich.text import Text

from penstock.domains.novae.data_records import QuarantineEntry
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.discovery_date import candidate_words, discovery_words
from penstock.domains.novae.model import Doubt, Nova
from penstock.domains.novae.run_records import WorkflowRun
from penstock.domains.novae.states import NovaStatus, ProcessingStatus

VERDICTS = {
    ProcessingStatus.COMPLETED: ("valid", "green"),
    ProcessingStatus.QUARANTINED: ("waits for a person", "yellow"),
    ProcessingStatus.FAILED_TERMINAL: ("refused", "red"),
    ProcessingStatus.FAILED_RETRYABLE: ("failed for now", "red"),
    ProcessingStatus.READY: ("to be done", "dim"),
    ProcessingStatus.IN_PROGRESS: ("at work", "dim"),
}
_LONGEST = 60
_WHOLE = ("verdict", "file", "dataset", "nova", "nova_id", "workflow", "status", "began", "since")
"Columns that are never broken."
_WIDE = 140
"Characters of a terminal that has room for ids."


def shown(text: object, longest: int | None = None) -> str:
    """A text in one line, whatever is in it."""
    plain = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))
    return plain if longest is None or len(plain) <= longest else f"{plain[: longest - 1]}…"


def file_of(dataset: Dataset) -> str:
    """What a dataset's file is called."""
    told = dataset.file_name or next(iter(dataset.locators), "") or dataset.provider_identity or dataset.dataset_id
    return PurePosixPath(str(told).partition("?")[0]).name or str(told)


def contents_of_dataset(dataset: Dataset) -> str:
    """What is in a dataset, in a few words; why not, if nothing is."""
    if dataset.processing_status is not ProcessingStatus.COMPLETED:
        return _why(dataset)
    told = dataset.summary or {}
    facts = _of_spectra(told) if "points" in told else _of_photometry(told)
    assumed = ", ".join(sorted({str(each.get("about")) for each in told.get("assumptions") or ()}))
    remarks = "; ".join(map(str, told.get("remarks") or ()))
    facts += [f"assumed: {assumed.replace('_', ' ')}"] if assumed else []
    return " · ".join([*facts, *([f"remark: {remarks}"] if remarks else [])])


def _why(dataset: Dataset) -> str:
    if dataset.processing_status is ProcessingStatus.FAILED_RETRYABLE:
        return dataset.failure or ""
    details, code = dataset.quarantine_details or {}, dataset.quarantine_reason_code
    if (rejected := details.get("rejected")) is not None:
        word = "withdrawn" if code == "WITHDRAWN" else "rejected"
        was = f" (it waited as {code})" if code and code != "WITHDRAWN" else ""
        return f"{word} by {details.get('by') or 'somebody'}: {rejected}{was}"
    return ": ".join(str(each) for each in (code, details.get("reason")) if each)


def _of_spectra(told: Mapping[str, Any]) -> list[str]:
    low, high = told["wavelength_range"]
    several = f"{told['spectra']} spectra · " if told.get("spectra", 1) > 1 else ""
    return [
        f"{several}{told['points']:,} points",
        f"{low:.0f}–{high:.0f} Å",
        str(told.get("flux_unit") or "relative"),
    ]


def _of_photometry(told: Mapping[str, Any]) -> list[str]:
    bands = told.get("bands") or {}
    listed = " ".join(sorted(bands, key=lambda band: -bands[band])[:8]) + (" …" if len(bands) > 8 else "")
    unread = f"{told['unread']} rows not read{_first_unread(told)}" if told.get("unread") else ""
    limits = f"{told['upper_limits']} upper limits" if told.get("upper_limits") else ""
    return [each for each in (f"{told.get('rows', 0):,} rows", listed, limits, unread) if each]


def _first_unread(told: Mapping[str, Any]) -> str:
    """Why the first row that was not read was none."""
    first = next((each for each in told.get("unread_rows") or () if isinstance(each, Mapping)), None)
    return "" if first is None else f" (line {first.get('row')}: {shown(first.get('why'), 80)})"


def _brief(name: str, most: int) -> str:
    """The end of a name, which tells more than its beginning."""
    plain = shown(name)
    return plain if len(plain) <= most else f"…{plain[1 - most :]}"


# Tables


def table_of_datasets(datasets: Iterable[Dataset], *, width: int) -> Table:
    """Datasets with what they proved to be: what waits first, then the rest by file; the ids where there is room."""
    wide = width >= _WIDE
    table = _table("verdict", "file", "what is in it, or why not", *(["provider", "dataset"] if wide else []))
    order = list(VERDICTS)
    order.insert(0, order.pop(1))
    for each in sorted(datasets, key=lambda one: (order.index(one.processing_status), file_of(one).lower())):
        word, style = VERDICTS[each.processing_status]
        ids = [Text(shown(each.provider, 24)), Text(str(each.dataset_id), "dim")] if wide else []
        told = shown(contents_of_dataset(each), 200)
        table.add_row(Text(word, style), Text(_brief(file_of(each), 48 if wide else 30)), Text(told), *ids)
    return table


def table_of_runs(runs: Iterable[WorkflowRun], *, now: datetime) -> Table:
    table = _table("workflow", "status", "outcome", "began", "what went wrong")
    for run in runs:
        told = [run.workflow_name, run.status.value, run.outcome or "", ago(now, run.started_at)]
        table.add_row(*map(Text, told), Text(shown(run.error_message or "", 100)))
    return table


def table_of_waiting(entries: Iterable[tuple[QuarantineEntry, str]], *, now: datetime) -> Table:
    """What waits for a person, each with the name of its nova."""
    table = _table("dataset", "nova", "since", "file", "why")
    for entry, name in entries:
        why = f"{entry.reason_code}: {shown(entry.reason or '', 200)}"
        file = _brief(entry.file_name or "", 30)
        table.add_row(*map(Text, [str(entry.dataset_id), shown(name, 20), ago(now, entry.quarantined_at), file, why]))
    return table


def table_of_rows(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows that have the same columns."""
    table = _table(*rows[0])
    for row in rows:
        table.add_row(*(Text("" if value is None else shown(value, _LONGEST)) for value in row.values()))
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column in _WHOLE)
    return table


# Lines


def told_nova(nova: Nova) -> str:
    """A nova in one line."""
    place = None if nova.ra_deg is None else f"RA {nova.ra_deg:.5f}° Dec {nova.dec_deg:+.5f}°"
    names = f"also {', '.join(nova.aliases[:4])}{' …' if len(nova.aliases) > 4 else ''}" if nova.aliases else None
    gone = (
        f"DEPRECATED: {nova.deprecated_because or 'nobody says why'}" if nova.status is NovaStatus.DEPRECATED else None
    )
    candidates = "; ".join(candidate_words(nova))
    facts = [nova.preferred_name, gone, place, discovery_words(nova), names, candidates, str(nova.nova_id)]
    return shown(" · ".join(fact for fact in facts if fact))


def told_doubt(doubt: Doubt) -> list[str]:
    """Why a run waits for a person, and how to decide."""
    matches = doubt.details.get("matches") or []
    lines = [f"{doubt.reason_code}: {shown(doubt.details.get('reason', ''))}"]
    lines += [f"  match {number}: {_told_match(match)}" for number, match in enumerate(matches[:10])]
    lines += [f"  nova {candidate}" for candidate in doubt.candidates[:10]]
    answers = "new|reject, or existing --into ID" if doubt.workflow_name == "initialize_nova" else "accept|reject"
    choice = " --match N" if len(matches) > 1 else ""
    return [*lines, f"Decide: penstock novae decide {doubt.job_run_id} {answers}{choice}"]


def _told_match(match: Mapping[str, Any]) -> str:
    facts = [match.get("name"), match.get("object_type"), match.get("ra_deg"), match.get("dec_deg")]
    return shown(" · ".join(str(fact) for fact in facts if fact is not None), 120)


def ago(now: datetime, then: datetime) -> str:
    """How long ago something was."""
    seconds = max(0, round((now - then).total_seconds()))
    for size, word in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {word} ago"
    return f"{seconds} s ago"


# For programs


def nova_data(nova: Nova) -> dict[str, Any]:
    told = (
        *("nova_id", "preferred_name", "aliases", "status", "discovery_date", "discovery_source"),
        *("discovery_candidates", "deprecated_because", "ra_deg", "dec_deg", "version_counter"),
    )
    return {name: _plain(getattr(nova, name)) for name in told}


def dataset_data(dataset: Dataset) -> dict[str, Any]:
    told = (
        *("dataset_id", "nova_id", "dataset_type", "provider", "provider_identity", "processing_status"),
        *("validation_status", "quarantine_reason_code", "quarantine_details", "summary", "failure", "sha256"),
    )
    return {name: _plain(getattr(dataset, name)) for name in told} | {"file": file_of(dataset)}


def run_data(run: WorkflowRun) -> dict[str, Any]:
    told = ("job_run_id", "workflow_name", "status", "outcome", "started_at", "finished_at", "error_message", "results")
    return {name: _plain(getattr(run, name)) for name in told}


def waiting_data(entry: QuarantineEntry, name: str) -> dict[str, Any]:
    told = ("dataset_id", "nova_id", "dataset_type", "provider", "reason_code", "reason", "file_name", "quarantined_at")
    return {"nova": name} | {field: _plain(getattr(entry, field)) for field in told}


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | list | dict | None) else str(getattr(value, "value", value))
