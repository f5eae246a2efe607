"""Dry runs: what retention and the sweep would do now, and how much that is. Nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

from penstock.declare.domain import Domain
from penstock.files.reconcile import Reconciled
from penstock.files.sweep import Sweep
from penstock.lifecycle.retention import Retention
from penstock.ports.archive import Archive
from penstock.schema.kinds import instant_text
from penstock.work.domain_context import DomainContext
from penstock.work.past_jobs import PastJobs

MOST_TOLD = 200
"So many files and records are told by name; all are counted."


def dry_retention(context: DomainContext, domains: Sequence[Domain], *, owner: str) -> dict[str, Any]:
    """What would leave by each rule, and which jobs would be forgotten."""
    # A plan reads the store and the files; where records would go, it does not ask.
    archive = cast("Archive", context.archive)
    rules = Retention(context.store, archive, domains, owner=owner, objects=context.objects).plan()
    jobs = PastJobs(context.store, owner=owner).plan()
    told = [{**asdict(rule), "unreadable": rule.unreadable[:MOST_TOLD]} for rule in rules]
    return {
        "rules": told,
        "records": sum(r.records + r.along for r in rules),
        "bytes": sum(r.bytes for r in rules),
        "files": sum(r.files for r in rules),
        "file_bytes": sum(r.file_bytes for r in rules),
        "past_jobs": {"jobs": jobs.jobs, "records": jobs.records, "held": jobs.held},
    }


def dry_sweep(context: DomainContext, domains: Sequence[Domain], *, owner: str) -> dict[str, Any]:
    """Which files no record points at, and which records miss theirs."""
    found: Reconciled = Sweep(context.store, context.objects, domains, owner=owner).plan()
    orphans = [
        {"key": f.key, "bytes": f.size, "modified_at": instant_text(f.modified_at, 0)}
        for f in found.orphans[:MOST_TOLD]
    ]
    missing = [{"record": m.record, "key": m.key, "in_trash": m.in_trash} for m in found.missing[:MOST_TOLD]]
    return {
        "files": len(found.orphans),
        "file_bytes": found.orphan_bytes,
        "orphans": orphans,
        "missing_files": len(found.missing),
        "missing": missing,
        "young": found.young,
        "undecided": found.undecided,
        "hidden": found.hidden[:MOST_TOLD],
        "unreadable": found.unreadable[:MOST_TOLD],
    }
