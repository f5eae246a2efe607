"""The command that moves audit lines to the archive."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, cast

import typer

from penstock.cli.installed import domains
from penstock.cli.terminal import AsJson, By, Place, StoreUrl, busy, opened, settings, show
from penstock.errors import Conflict, InvalidValue, Misconfigured
from penstock.kernel.audit import AuditLine, SystemAudit
from penstock.kernel.history_trace import traces_to
from penstock.lifecycle.audit_archive import AuditArchive
from penstock.ports.archive import Archive
from penstock.runtime.composition import open_archive

_AGE = re.compile(r"(\d{1,5})([dh])")


def archive_command(
    older_than: Annotated[
        str | None,
        typer.Option("--older-than", help="Such as 365d or 48h; else as many days as PENSTOCK_AUDIT_DAYS says."),
    ] = None,
    project: Annotated[str | None, typer.Option("--project", help="Only this one; else all there are.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be moved.")] = False,
    archive: Place = None,
    by: By = "penstock audit archive",
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Move sealed lines that are old enough to the archive, read them back, and only then remove them from the store.

    Their seals stay and vouch for them there; `penstock audit verify` reads both.
    """
    keep = _age(older_than, settings().audit_days)
    with opened(store) as handle, busy("Archiving"):
        mover = AuditArchive(handle, archive_at(archive), trails(), owner=by, keep=keep, along=traces_to)
        done = mover.plan(project) if dry_run else mover.run(project)
    if done is None:
        raise Conflict("another process archives audit lines just now; try again later")
    if as_json:
        print(json.dumps([asdict(moved) for moved in done], indent=2))
    else:
        columns = ("project", "trail", "seals", "lines") + (() if dry_run else ("removed", "error"))
        rows = [{name: getattr(moved, name) for name in columns} for moved in done]
        show(rows, title="Would move" if dry_run else "Moved", as_json=False, empty="Nothing sealed is old enough.")
    if any(moved.error for moved in done):
        raise typer.Exit(1)


def trails() -> list[type[AuditLine]]:
    """The kernel's trail, and those of the domains that keep their own."""
    own = [cast("type[AuditLine]", d.audit) for d in domains() if d.audit is not None]
    return [SystemAudit, *own]


def archive_at(place: str | None) -> Archive:
    """The archive that is meant."""
    chosen = settings(archive=place)
    return open_archive(chosen.archive, settings=chosen)


def _age(given: str | None, days: int) -> timedelta:
    """How old a line must be; InvalidValue for what is no age."""
    if given is None and not days:
        raise Misconfigured("say how old lines must be, with --older-than 365d, or by PENSTOCK_AUDIT_DAYS")
    match = _AGE.fullmatch(given) if given is not None else None
    if given is not None and match is None:
        raise InvalidValue(f"{given[:40]!r} is no age; write such as 365d, or 48h for hours")
    number, unit = (int(match[1]), match[2]) if match else (days, "d")
    return timedelta(days=number) if unit == "d" else timedelta(hours=number)
