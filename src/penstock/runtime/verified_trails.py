"""Audit trails, verified: what was found in each, as programs are told it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.kernel.audit import AuditLine
from penstock.kernel.seals import Chain, Finding, Verdict, read_chain, verify, verify_all
from penstock.kernel.store import Store
from penstock.lifecycle.archived_trails import ArchivedTrails
from penstock.ports.archive import Archive
from penstock.schema.kinds import instant_text

_MOST_TRAILS, _MOST_FINDINGS = 200, 50
"So many trails, and so many findings in each, are told one by one; all are looked at."


def verified_trails(
    store: Store, trails: Sequence[type[AuditLine]], archive: Archive | None, *, project: str | None
) -> dict[str, Any]:
    """Compute all hashes and seals anew, of one project or of all; what does not fit is told first."""
    lines = None if archive is None else ArchivedTrails(archive)
    chain = read_chain(store)
    if project is None:
        found = list(verify_all(store, chain, trails=trails, archive=lines))
    else:
        found = [verify(store, project, trail=trail, chain=chain, archive=lines) for trail in trails]
        found = [v for n, v in enumerate(found) if n == 0 or v.seals or v.unsealed or v.findings]
    found.sort(key=lambda verdict: verdict.sound)
    return {
        "sound": chain.sound and all(v.sound for v in found),
        "trails": len(found),
        "lines": sum(v.sealed + v.unsealed for v in found),
        "verdicts": [_bounded(told_verdict(v)) for v in found[:_MOST_TRAILS]],
        "checkpoints": _bounded(told_chain(chain)),
    }


def told_verdict(verdict: Verdict) -> dict[str, Any]:
    """What was found in one trail."""
    return {
        "project": verdict.project,
        "trail": verdict.trail,
        "sound": verdict.sound,
        "seals": verdict.seals,
        "sealed_lines": verdict.sealed,
        "archived_lines": verdict.archived,
        "unsealed_lines": verdict.unsealed,
        "sealed_until": instant_text(verdict.until, 6) if verdict.until else None,
        "digest": verdict.digest or None,
        "checkpoint": verdict.checkpoint or None,
        "findings": _findings(verdict.findings),
        "further_findings": verdict.untold,
        "cannot_show": verdict.cannot_show,
    }


def told_chain(chain: Chain) -> dict[str, Any]:
    """What was found in the checkpoints over all trails."""
    return {
        "project": None,
        "trail": None,
        "sound": chain.sound,
        "checkpoints": chain.count,
        "digest": str(chain.newest) if chain.newest else None,
        "proved": str(chain.proved) if chain.proved else None,
        "findings": _findings(chain.findings),
        "further_findings": chain.untold,
        "cannot_show": chain.cannot_show,
    }


def _findings(findings: list[Finding]) -> list[dict[str, str]]:
    return [{"kind": f.kind, "where": f.where, "explanation": f.explanation} for f in findings]


def _bounded(told: dict[str, Any]) -> dict[str, Any]:
    found = told["findings"]
    more = max(0, len(found) - _MOST_FINDINGS)
    return {**told, "findings": found[:_MOST_FINDINGS], "further_findings": told["further_findings"] + more}
