"""The whole chain for somebody who watches: from a sentence to an asset, with every step told as it happens.

It is the command ``penstock demo assetcreator``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from penstock.domains.assetcreator import creative_projects, downloads, jobs, reviews
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.errors import AssetNotMade
from penstock.domains.assetcreator.jobs import AssetJob
from penstock.domains.assetcreator.model import Job, Step
from penstock.domains.assetcreator.orders import SEEDS, STEPS, Constraints, Prompt, Request, RigType
from penstock.domains.assetcreator.stages import AssetType, Status
from penstock.files.object_reads import fetch
from penstock.plugin import CommandContext

BY = "penstock demo"
_LOOK = 0.2
"Seconds between looks at how far it is."
_USUAL = (AssetType.CHARACTER_3D, AssetType.SPRITE_2D)

Ask = Callable[[Step], str | None]
"Whether what waits is approved: None, or else what is wrong with it."


def begin(
    studio: AssetStudio, concept: str, *, types: Sequence[AssetType], style: str, seed: int, rig: RigType
) -> list[Job]:
    """A project of its own, and a job in it for each type."""
    project = creative_projects.begin_project(studio, "Demo", style_profile={}, gates=None, by=BY)
    begun = []
    for asset_type in types:
        constraints = Constraints(rig_type=rig) if asset_type is AssetType.CHARACTER_3D else Constraints()
        request = Request(prompt=Prompt(core_concept=concept, style=style), constraints=constraints, seed=seed)
        begun.append(jobs.ask(studio, jobs.NewJob(project.project_id, asset_type, request), by=BY))
    return begun


def follow(studio: AssetStudio, job: Job, ask: Ask, tell: Callable[[Step], None]) -> AssetJob:
    """Wait until a job is over, telling of each run of a stage once, and asking at the gates."""
    told: set[tuple[int, str]] = set()
    while True:
        seen = jobs.see_job(studio.store, job.job_id)
        for step in seen.steps:
            if step.status not in (Status.PENDING, Status.RUNNING) and (step.round, step.step_name) not in told:
                told.add((step.round, step.step_name))
                tell(step)
        if seen.job.status in (Status.DONE, Status.FAILED):
            return seen
        waiting = seen.current()
        if waiting is None:
            time.sleep(_LOOK)
            continue
        _decide(studio, seen, waiting, ask(waiting))


def _decide(studio: AssetStudio, seen: AssetJob, waiting: Step, wrong: str | None) -> None:
    looked_at = {key.rpartition("/")[2]: digest for key, digest in (waiting.checksums or {}).items()}
    decide = reviews.approve if wrong is None else reviews.reject
    decide(studio, seen.job.job_id, round=waiting.round, checksums=looked_at, notes=wrong, by=BY)


def bring(studio: AssetStudio, keys: Sequence[str], into: Path) -> list[Path]:
    """Files in a folder."""
    into.mkdir(parents=True, exist_ok=True)
    brought = []
    for key in keys:
        with TemporaryDirectory(prefix="penstock-ac-", dir=into) as folder:
            brought.append(fetch(studio.objects, key, Path(folder)).replace(into / key.rpartition("/")[2]))
    return brought


def commands(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    """``penstock demo assetcreator``."""

    def assetcreator(
        concept: Annotated[str, typer.Argument(help="What the asset is.")] = "Space ranger robot with a red scarf",
        types: Annotated[
            list[AssetType] | None, typer.Option("--type", help="What kind, or several: 3D_CHARACTER and 2D_SPRITE.")
        ] = None,
        style: Annotated[str, typer.Option(help="How it is drawn, in words.")] = "",
        seed: Annotated[int, typer.Option(min=0, max=SEEDS - 1, help="Another seed, another asset.")] = 0,
        rig: Annotated[RigType, typer.Option(help="Of a character.")] = RigType.HUMANOID,
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve at every gate.")] = False,
        out: Annotated[Path, typer.Option("--out", "-o", help="The folder for the files.")] = Path("asset"),
        store: Annotated[str | None, typer.Option(help="Where records live; else PENSTOCK_STORE.")] = None,
        objects: Annotated[str | None, typer.Option(help="Where files live; else PENSTOCK_OBJECTS.")] = None,
    ) -> None:
        """Make game assets of a sentence: drawn, modelled, rigged, animated, exported."""
        out.mkdir(parents=True, exist_ok=True)
        terminal.writable(out / "thumbnail.png")
        wanted = types or _USUAL
        with terminal.working(store=store, objects=objects) as context:
            studio = AssetStudio.within(context)
            for job in begin(studio, concept, types=wanted, style=style, seed=seed, rig=rig):
                terminal.tell(f"{concept} ({job.asset_type.value}): {', '.join(STEPS[job.asset_type])}")
                folder = out / job.asset_type.value.lower()
                ask = _content if yes else _asking(studio, terminal, folder / "review")
                seen = follow(studio, job, ask, lambda step: terminal.tell(_line(step)))
                if seen.job.status is Status.FAILED or seen.job.version is None or seen.job.asset_id is None:
                    why = (seen.job.error or {}).get("message") or "nobody knows why"
                    raise AssetNotMade(f"the asset could not be made: {why}")
                version = downloads.export_version(studio, seen.job.asset_id, seen.job.version, how="files", by=BY)
                for path in bring(studio, version.files, folder):
                    terminal.tell(f"  {path}")

    return {"demo assetcreator": assetcreator}


def _content(step: Step) -> None:
    """Be content with everything."""


def _asking(studio: AssetStudio, terminal: CommandContext, into: Path) -> Ask:
    """Ask whoever sits there, who finds what it is about in a folder."""

    def ask(step: Step) -> str | None:
        for path in bring(studio, step.artifacts, into):
            terminal.tell(f"  look at {path}")
        if typer.confirm(f"Are you content with {step.step_name.value}?", default=True):
            return None
        return str(typer.prompt("What should be different"))

    return ask


def _line(step: Step) -> str:
    """A run of a stage, in a line."""
    counted = {"triangles": step.metrics.get("faces"), "joints": step.metrics.get("joints")}
    told = [f"{value} {name}" for name, value in counted.items() if value]
    told += [f"{name} {seconds:g} s" for name, seconds in (step.metrics.get("clips") or {}).items()]
    said = (step.error or {}).get("message") or ", ".join(told)
    outcome = "failed" if step.status is Status.FAILED else f"{step.metrics.get('seconds', 0):.1f} s"
    return f"  {step.step_name.value:<14} {outcome:>6}  {said}".rstrip()
