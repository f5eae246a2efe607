"""The audit commands: seal the trails, and verify that nothing in them was changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, cast

import typer
from rich.text import Text

from penstock.audit import AuditLine, SystemAudit
from penstock.cli.terminal import AsJson, StoreUrl, busy, console, opened, show, tell
from penstock.domains import DOMAINS
from penstock.errors import Misconfigured
from penstock.kinds import instant_text
from penstock.seals import Seal, Verdict, projects, seal, seal_known, verify
from penstock.store import Store

audit = typer.Typer(no_args_is_help=True, help="The audit trails: seal them, and verify that nothing was changed.")


@audit.command("verify")
def verify_command(
    project: Annotated[str | None, typer.Option("--project", help="Only this one; else all that have lines.")] = None,
    expect: Annotated[
        str | None, typer.Option("--expect", help="A digest printed earlier and kept elsewhere (with --project).")
    ] = None,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Compute all hashes and seals anew; end with 1 if anything was changed, and say what cannot be shown."""
    if expect is not None and project is None:
        raise Misconfigured("--expect is the digest of one project's seal; name the project with --project")
    with opened(store) as handle, busy("Computing hashes and seals"):
        verdicts = list(_verdicts(handle, project, expect))
    if not verdicts:
        raise Misconfigured("No project has been sealed yet; name one with --project, or run: penstock audit seal NAME")
    if as_json:
        print(json.dumps([_told(v) for v in verdicts], indent=2))
    else:
        _show(verdicts)
    if not all(v.sound for v in verdicts):
        raise typer.Exit(1)


@audit.command("seal")
def seal_command(
    names: Annotated[list[str] | None, typer.Argument(help="Projects; without any, all that were sealed.")] = None,
    by: Annotated[str, typer.Option("--by", help="Who seals.")] = "penstock audit seal",
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Seal the lines written since the last seal, except the newest ten minutes."""
    with opened(store) as handle:
        made = list(_sealed(handle, names or [], by))
    if as_json:
        print(json.dumps([s.model_dump(mode="json") for s in made], indent=2))
        return
    rows = [
        {"project": s.project_id, "trail": s.trail, "seal": s.number, "lines": s.count, "digest": s.digest}
        for s in made
    ]
    show(rows, title="Sealed", as_json=False, empty="Nothing new is old enough to be sealed.")


def _trails() -> list[type[AuditLine]]:
    """The kernel's trail, and those of the domains that keep their own."""
    own = [cast("type[AuditLine]", d.audit) for d in DOMAINS if d.audit is not None]
    return [SystemAudit, *own]


def _verdicts(store: Store, project: str | None, expect: str | None) -> Iterator[Verdict]:
    if project is None:
        for trail in _trails():
            for name in projects(store, trail=trail):
                yield verify(store, name, trail=trail)
        return
    found = [verify(store, project, trail=trail, expect=expect) for trail in _trails()]
    if any(v.expected for v in found):  # a digest is of one trail; the others need not have it
        for verdict in found:
            verdict.findings = [f for f in verdict.findings if f.kind != "expected"]
    # A project may have lines in one trail only; the kernel's is told of even if it is empty.
    yield from (v for n, v in enumerate(found) if n == 0 or v.seals or v.unsealed or v.findings)


def _sealed(store: Store, names: list[str], by: str) -> Iterator[Seal]:
    if not names:
        yield from seal_known(store, by=by, trails=_trails())
        return
    for name in names:
        for trail in _trails():
            made = seal(store, name, by=by, trail=trail)
            if made is not None:
                yield made


def _told(verdict: Verdict) -> dict[str, Any]:
    return {
        "project": verdict.project,
        "trail": verdict.trail,
        "sound": verdict.sound,
        "seals": verdict.seals,
        "sealed_lines": verdict.sealed,
        "unsealed_lines": verdict.unsealed,
        "sealed_until": instant_text(verdict.until, 6) if verdict.until else None,
        "digest": verdict.digest or None,
        "findings": [{"kind": f.kind, "where": f.where, "explanation": f.explanation} for f in verdict.findings],
        "cannot_show": verdict.cannot_show,
    }


def _show(verdicts: list[Verdict]) -> None:
    terminal = console()
    for verdict in verdicts:
        style = "green" if verdict.sound else "red"
        said = "sound" if verdict.sound else f"{len(verdict.findings)} findings"
        terminal.print(Text.assemble((verdict.project, "bold"), f" ({verdict.trail}): ", (said, style)))
        tell(f"  {verdict.sealed} lines under {verdict.seals} seals; digest {verdict.digest or '-'}")
        for finding in verdict.findings:
            terminal.print(f"  {finding.kind}: {finding.where}. {finding.explanation}", style="red", markup=False)
        for sentence in verdict.cannot_show:
            terminal.print(f"  Not shown: {sentence}", style="dim", markup=False)
