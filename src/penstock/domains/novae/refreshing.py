"""refresh_references: the papers about a nova, upserted and linked, and the earliest of their dates."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any
from uuid import UUID

from penstock.declare.attr import the
from penstock.domains.novae.discovery_date import earliest_known, earliest_paper, is_earlier, move_discovery
from penstock.domains.novae.model import DoubtfulItem, NovaReference, Reference
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_names import all_names
from penstock.domains.novae.providers.provider import BadPaper, Paper
from penstock.domains.novae.run_records import JobRun
from penstock.domains.novae.runs import Begun, Origin, begin, followed, nova_at_work, still_stands
from penstock.domains.novae.workflow import HOUR, NOVAE_RETRY, NovaInput, NovaStep, nova_workflow, part, step
from penstock.errors import Conflict, NotFound
from penstock.kernel.store import Store
from penstock.schema.documents import kept
from penstock.work import ChildRun, ChildStatus, FanOut, StepResult, TaskContext

__all__ = ["REFRESH", "earliest", "move_discovery", "refresh"]

REFRESHED = "REFRESHED"
AT_ONCE = 5
"Parts that are worked on at the same time."
TOGETHER = 10
"Papers of one part."
MOST_PAPERS = 5_000
SOURCE = "references"
_LONGEST = 2_000


def refresh(catalogue: NovaCatalogue, nova_id: UUID, *, by: str, correlation_id: str | None = None) -> Begun[JobRun]:
    """Have the papers about a nova looked for."""
    return begin(catalogue, REFRESH, NovaInput(nova_id=nova_id), by=by, origin=Origin(correlation_id))


# Fetching


def _fetch(work: TaskContext, context: NovaStep) -> StepResult:
    """All that bibliographies have; kept as a file, so that whoever goes on after a crash has the same."""
    catalogue = NovaCatalogue.within(work.domain)
    nova = followed(work.store, context.job.nova_id)
    found: dict[str, dict[str, Any]] = {}
    for bibliography in catalogue.sources.bibliographies:
        for each in bibliography.papers(names=all_names(nova)):
            work.check()
            item = _item(each)
            found.setdefault(_item_id(item), item)
            if len(found) >= MOST_PAPERS:
                work.log.warning("more than %d papers were found; the rest is left out", MOST_PAPERS)
                break
    key = f"workflow-payloads/refresh_references/{context.job.job_run_id}/output.json"
    catalogue.objects.put(key, json.dumps([found[name] for name in sorted(found)]).encode())
    return StepResult(metrics={"payload": key, "found": len(found), "more": len(found) >= MOST_PAPERS})


def _item(found: Paper | BadPaper) -> dict[str, Any]:
    """What was found, with nothing in it that would not fit into a record."""
    if isinstance(found, BadPaper):
        finding = found.finding
        return {"bad": {"code": finding.code, "message": kept(finding.message, _LONGEST)}}
    told = asdict(found)
    title = found.title
    return told | {"authors": list(found.authors[:100]), "title": None if title is None else kept(title, _LONGEST)}


def _item_id(item: dict[str, Any]) -> str:
    """The same item is the same, however often it is found."""
    if item.get("reference_id"):
        return str(item["reference_id"])
    return hashlib.sha256(json.dumps(item, sort_keys=True).encode()).hexdigest()[:32]


# Normalising


def _plan(work: TaskContext, context: NovaStep) -> Sequence[dict[str, Any]]:
    key = context.made("fetch").metrics["payload"]
    with NovaCatalogue.within(work.domain).objects.get(key) as download:
        items = json.loads(b"".join(download))
    return [{"items": items[first : first + TOGETHER]} for first in range(0, len(items), TOGETHER)]


def _upsert(work: TaskContext, context: NovaStep, input: dict[str, Any]) -> StepResult:
    """Write some papers, each with its link; what is none is put aside, and keeps no other from being written."""
    nova_id, written, aside = nova_at_work(work, context), 0, 0
    for item in input["items"]:
        try:
            paper = _paper(nova_id, item, work.store)
        except ValueError as wrong:
            _put_aside(work, nova_id, item, wrong)
            aside += 1
        else:
            _write(work, paper)
            written += 1
    return StepResult(metrics={"written": written, "aside": aside})


def _paper(nova_id: UUID, item: dict[str, Any], store: Store) -> Reference:
    """The record of a paper; ValueError, in words, if it is none."""
    if "bad" in item:
        raise ValueError(item["bad"]["message"])
    now, reference_id = store.clock.now(), str(item.get("reference_id") or "")
    if not reference_id.strip() or len(reference_id) > 200 or not reference_id.isprintable():
        raise ValueError(f"{reference_id[:200]!r} is no bibcode: it has 1 to 200 characters, all of which can be seen")
    details = {name: item[name] for name in ("authors", "doi", "publication", "source") if item.get(name)}
    ref = Reference.at(nova_id=nova_id, reference_id=reference_id)
    known = store.lookup(ref)
    given = {"title": item.get("title"), "date": item.get("date")}
    return Reference(
        nova_id=nova_id,
        reference_id=reference_id,
        **{name: value for name, value in given.items() if value is not None},
        details={**(known.details if known is not None else {}), **details},
        created_at=now if known is None else known.created_at,
        updated_at=now,
    )


def _write(work: TaskContext, paper: Reference) -> None:
    """REF-1 and REF-2 in one commit, as often as one likes."""
    linked: dict[str, Any] = {"nova_id": paper.nova_id, "reference_id": paper.reference_id}
    with work.change(why="found") as change:
        still_stands(change, paper.nova_id)
        change.put(paper)
        if work.store.lookup(NovaReference.at(**linked)) is None:
            change.put(NovaReference(**linked, created_at=work.store.clock.now()))
        else:
            change.check(NovaReference.at(**linked), the(NovaReference.reference_id).exists())


def _put_aside(work: TaskContext, nova_id: UUID, item: dict[str, Any], wrong: ValueError) -> None:
    bad = item.get("bad") or {}
    doubtful = DoubtfulItem(
        nova_id=nova_id,
        source=SOURCE,
        item_id=hashlib.sha256(_item_id(item).encode()).hexdigest()[:32],
        reason_code=bad.get("code", "BAD_REFERENCE"),
        reason=kept(str(wrong), _LONGEST),
        item=item,
        found_at=work.store.clock.now(),
    )
    with work.change(why="it is no paper") as change:
        still_stands(change, nova_id)
        change.put(doubtful)


def _sum_up(work: TaskContext, context: NovaStep, parts: Sequence[ChildRun]) -> StepResult:
    done = [each for each in parts if each.status is ChildStatus.DONE]
    totals = {name: sum(int(each.metrics.get(name, 0)) for each in done) for name in ("written", "aside")}
    return StepResult(metrics={**totals, "failed": len(parts) - len(done)})


# The date


def earliest(papers: Iterable[Reference]) -> str | None:
    """The earliest date of the papers that count."""
    found = earliest_paper(papers)
    return None if found is None else found.date


def _date(work: TaskContext, context: NovaStep) -> StepResult:
    """The discovery only ever moves earlier."""
    nova_id = nova_at_work(work, context)
    found = earliest_known(work.store, nova_id)
    told = dict(context.made("normalise").metrics)
    if found is not None and is_earlier(followed(work.store, nova_id), found.date):
        try:
            with work.change(why="an earlier date") as change:
                move_discovery(change, nova_id, found.date, source=found.source, about=found.about)
            told |= {"discovery_date": found.date, "discovery_source": found.source.value}
        except (Conflict, NotFound):
            if is_earlier(followed(work.store, nova_id), found.date):
                raise
    return StepResult(outcome=REFRESHED, metrics=told)


NORMALISE = FanOut(
    _plan, part(_upsert), _sum_up, tolerate=True, retry=NOVAE_RETRY, limit=timedelta(minutes=10), concurrency=AT_ONCE
)
REFRESH = nova_workflow(
    "refresh_references",
    NovaInput,
    [step("fetch", _fetch), step("normalise", NORMALISE), step("date", _date)],
    window=HOUR,
)
