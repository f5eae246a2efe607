"""How the quotas of a project stand, for its inbox."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.domains.assetcreator.model import Project
from penstock.domains.assetcreator.project_quotas import LIMITS, used_by
from penstock.plugin import QuotaStanding
from penstock.work.domain_context import DomainContext


def standings(context: DomainContext, project: str | None) -> Sequence[QuotaStanding]:
    """What a project uses of each quota, and what it may; of all projects together there is nothing to say."""
    found = None if project is None else context.store.lookup(Project.at(project_id=project))
    if found is None:
        return []
    return [
        QuotaStanding(
            quota=LIMITS[name].name,
            whose=f"of project {found.project_id}",
            used=amounts["used"],
            limit=amounts["allowed"],
            unit=LIMITS[name].unit,
            helps=LIMITS[name].helps or "",
            record=found.ref,
        )
        for name, amounts in used_by(context.store, found).items()
    ]
