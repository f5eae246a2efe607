"""A deployment's roles on PostgreSQL as SQL, derived from the declaration alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from penstock.errors import Misconfigured
from penstock.plugin import DomainPlugin
from penstock.runtime.operated_system import trails_of
from penstock.runtime.settings import Settings
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.working import WORKING

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def database_roles(installed: Sequence[DomainPlugin], settings: Settings, *, owner: str, service: str) -> str:
    """The script for what is served."""
    from penstock.engines.sql.postgres_roles import RoleScript  # which needs what describes SQL, and nothing else does

    for name in (owner, service):
        if not _NAME.fullmatch(name) or name.startswith("pg_"):
            raise Misconfigured(f"{name!r} cannot name a role; write small letters, digits and _, 63 at most")
    if owner == service:
        raise Misconfigured(f"{owner} cannot be both: a service that owns its tables may change and drop them")
    domains = [SYSTEM_RECORDS, WORKING, *(plugin.domain for plugin in installed)]
    shapes = [shape for domain in domains for shape in domain.shapes]
    views = [view for domain in domains for view in domain.view_shapes]
    evidence = frozenset(trail.__shape__ for trail in trails_of(installed))
    return RoleScript(owner, service, evidence, archives=settings.audit_days > 0).text(shapes, views)
