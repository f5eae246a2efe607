"""The audit commands: seal the trails, and verify that nothing in them was changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from penstock.cli.archiving import archive_at, archive_command, trails
from penstock.cli.terminal import AsJson, Place, StoreUrl, busy, console, opened, show, tell
from penstock.errors import InvalidValue, Misconfigured
from penstock.kernel.seals import (
    ArchivedLines,
    Chain,
    Checkpoint,
    Kept,
    Seal,
    Verdict,
    checkpoint,
    kept_digests,
    read_chain,
    seal,
    seal_known,
    verify,
    verify_all,
)
from penstock.kernel.store import Store
from penstock.lifecycle.archived_trails import ArchivedTrails
from penstock.runtime.verified_trails import told_chain, told_verdict
from penstock.schema.kinds import instant_text

audit = typer.Typer(no_args_is_help=True, help="The audit trails: seal, verify and archive them.")
audit.command("archive")(archive_command)

_OF_A_SEAL = re.compile(r"[0-9a-f]{64}")
_KEPT_BYTES = 10_000_000


@audit.command("verify")
def verify_command(
    project: Annotated[str | None, typer.Option("--project", help="Only this one; else all there are.")] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            "--expect",
            help="A digest kept elsewhere, or @FILE with some: of all trails, as `audit digest` printed it, or of one "
            "project's seal (with --project). May be given several times.",
        ),
    ] = None,
    archive: Place = None,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Compute all hashes, seals and checkpoints anew; end with 1 if anything was changed, and say what cannot be shown.

    Lines that were moved to the archive are read from there, and it ends with 2 if that cannot be reached. With a
    digest that was kept elsewhere (--expect) it proves that all that was sealed then still stands.
    """
    expected = _expected(expect or [])
    if expected.of_seal is not None and project is None:
        raise Misconfigured(
            "--expect is the digest of one project's seal; name the project with --project, or give the digest of all "
            "trails, as printed by: penstock audit digest"
        )
    with opened(store) as handle, busy("Computing hashes and seals"):
        chain = read_chain(handle, expect=set(expected.of_all))
        verdicts = list(_verdicts(handle, chain, project, expected.of_seal, ArchivedTrails(archive_at(archive))))
    if not verdicts and chain.sound and not expected.of_all:
        raise Misconfigured("No project has been sealed yet; name one with --project, or run: penstock audit seal NAME")
    if as_json:
        # What stands over all trails is told where there is something to tell; its project is null.
        over_all = [] if chain.sound and not expected.of_all else [told_chain(chain)]
        print(json.dumps([*(told_verdict(v) for v in verdicts), *over_all], indent=2))
    else:
        _show(verdicts)
        _show_all(chain)
    if not (chain.sound and all(v.sound for v in verdicts)):
        raise typer.Exit(1)


@audit.command("seal")
def seal_command(
    names: Annotated[list[str] | None, typer.Argument(help="Projects; without any, all there are.")] = None,
    by: Annotated[str, typer.Option("--by", help="Who seals.")] = "penstock audit seal",
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Seal the lines written since the last seal, except the newest ten minutes; then write a checkpoint over all."""
    with opened(store) as handle:
        before = _newest(handle)
        made = list(_sealed(handle, names or [], by))
        after = _newest(handle)
    if as_json:
        print(json.dumps([s.model_dump(mode="json") for s in made], indent=2))
        return
    rows = [
        {"project": s.project_id, "trail": s.trail, "seal": s.number, "lines": s.count, "digest": s.digest}
        for s in made
    ]
    show(rows, title="Sealed", as_json=False, empty="Nothing new is old enough to be sealed.")
    if after is not None and (before is None or after.number > before.number):
        tell(f"Digest of all trails: {after.kept}")


@audit.command("digest")
def digest_command(store: StoreUrl = None, as_json: AsJson = False) -> None:
    """The digest of all trails as of the newest checkpoint: keep it elsewhere, and hand it to `verify --expect`."""
    with opened(store) as handle:
        newest = _newest(handle)
    if newest is None:
        raise Misconfigured("There is no checkpoint yet; write one with: penstock audit seal")
    if newest.digest != newest.computed():
        raise InvalidValue(
            f"checkpoint {newest.number} was changed: its digest does not fit; see: penstock audit verify"
        )
    if as_json:
        told = {"digest": str(newest.kept), "checkpoint": newest.number, "made_at": instant_text(newest.made_at, 6)}
        print(json.dumps(told, indent=2))
    else:
        tell(str(newest.kept))


# What is meant


@dataclass
class _Expected:
    """The digests that were kept elsewhere."""

    of_all: list[Kept] = field(default_factory=list)
    of_seal: str | None = None


def _expected(given: list[str]) -> _Expected:
    found = _Expected()
    for each in given:
        text = _read(each.removeprefix("@")) if each.startswith("@") else each
        if not _OF_A_SEAL.fullmatch(text.strip().lower()):
            found.of_all += kept_digests(text)
        elif found.of_seal is None:
            found.of_seal = text.strip().lower()
        else:
            raise InvalidValue("--expect takes the digest of one seal only; the digests of all trails may be several")
    return found


def _read(name: str) -> str:
    """A file with digests, which is small and text."""
    try:
        with Path(name).open("rb") as file:
            content = file.read(_KEPT_BYTES + 1)
    except OSError as error:
        raise InvalidValue(f"{name} cannot be read: {error.strerror}; name a file with digests") from None
    try:
        if len(content) <= _KEPT_BYTES:
            return content.decode()
    except UnicodeDecodeError:
        pass
    raise InvalidValue(f"{name} holds no digests: it is too large, or no text")


def _newest(store: Store) -> Checkpoint | None:
    return store.first(Checkpoint.chain().reversed())


def _verdicts(
    store: Store, chain: Chain, project: str | None, expect: str | None, archive: ArchivedLines
) -> Iterator[Verdict]:
    if project is None:
        yield from verify_all(store, chain, trails=trails(), archive=archive)
        return
    found = [verify(store, project, trail=t, expect=expect, chain=chain, archive=archive) for t in trails()]
    if any(v.expected for v in found):  # a digest is of one trail; the others need not have it
        for verdict in found:
            verdict.findings = [f for f in verdict.findings if f.kind != "expected"]
    # A project may have lines in one trail only; the kernel's is told of even if it is empty.
    yield from (v for n, v in enumerate(found) if n == 0 or v.seals or v.unsealed or v.findings)


def _sealed(store: Store, names: list[str], by: str) -> Iterator[Seal]:
    if not names:
        yield from seal_known(store, by=by, trails=trails())
        return
    for name in names:
        for trail in trails():
            made = seal(store, name, by=by, trail=trail)
            if made is not None:
                yield made
    checkpoint(store, by=by, trails=trails())


# What is told


def _show(verdicts: list[Verdict]) -> None:
    for verdict in verdicts:
        moved = f", {verdict.archived} of them archived" if verdict.archived else ""
        said = f"{verdict.sealed} lines under {verdict.seals} seals{moved}; digest {verdict.digest or '-'}"
        _show_one(verdict.project, f" ({verdict.trail}): ", verdict, said)


def _show_all(chain: Chain) -> None:
    said = f"{chain.count} checkpoints name {len(chain.named)} trails; digest {chain.newest or '-'}"
    if chain.proved and chain.sound:
        said += f"\n  As they were when you kept {chain.proved}."
    _show_one("All trails", ": ", chain, said)


def _show_one(name: str, what: str, judged: Verdict | Chain, said: str) -> None:
    terminal = console()
    count = len(judged.findings) + judged.untold
    verdict = ("sound", "green") if judged.sound else (f"{count} findings", "red")
    terminal.print(Text.assemble((_printable(name), "bold"), what, verdict))
    tell(f"  {said}")
    for finding in judged.findings:
        told = _printable(f"{finding.kind}: {finding.where}. {finding.explanation}")
        terminal.print(f"  {told}", style="red", markup=False)
    if judged.untold:
        terminal.print(f"  … and {judged.untold} more.", style="red", markup=False)
    for sentence in judged.cannot_show:
        terminal.print(f"  Not shown: {sentence}", style="dim", markup=False)


def _printable(text: str) -> str:
    """Names are the forger's to choose: none may begin a line of its own, or steer the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
