"""The whole chain for somebody who watches: from a sentence to an asset, with every step told as it happens.

It is the command ``penstock demo assetcreator``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from penstock.domains.assetcreator import creative_projects, downloads, jobs, reviews
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.errors import AssetNotMade
from penstock.domains.assetcreator.jobs import AssetJob
from penstock.domains.assetcreator.model import AssetType, AssetVersion, Job, Status, Step
from penstock.domains.assetcreator.orders import STEPS, Constraints, Prompt, Request, RigType
from penstock.files.object_reads import fetch
from penstock.plugin import CommandContext

BY = "penstock demo"
_LOOK = 0.2
"Seconds between looks at how far it is."

Ask = Callable[[Step], str | None]
"Whether what waits is approved: None, or else what is wrong with it."


def begin(studio: AssetStudio, concept: str, *, asset_type: AssetType, style: str, seed: int, rig: RigType) -> Job:
    """A project of its own, and a job in it."""
    project = creative_projects.begin_project(studio, "Demo", style_profile={}, gates=None, by=BY)
    constraints = Constraints(rig_type=rig) if asset_type is AssetType.CHARACTER_3D else Constraints()
    request = Request(prompt=Prompt(core_concept=concept, style=style), constraints=constraints, seed=seed)
    return jobs.ask(studio, jobs.NewJob(project.project_id, asset_type, request), by=BY)


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


def bring(studio: AssetStudio, version: AssetVersion, into: Path) -> list[Path]:
    """The files of a version in a folder."""
    into.mkdir(parents=True, exist_ok=True)
    brought = []
    for key in version.files:
        with TemporaryDirectory(prefix="penstock-ac-", dir=into) as folder:
            brought.append(fetch(studio.objects, key, Path(folder)).replace(into / key.rpartition("/")[2]))
    return brought


def commands(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    """``penstock demo assetcreator``."""

    def assetcreator(
        concept: Annotated[str, typer.Argument(help="What the asset is.")] = "Space ranger robot with a red scarf",
        asset_type: Annotated[AssetType, typer.Option("--type", help="What kind.")] = AssetType.CHARACTER_3D,
        style: Annotated[str, typer.Option(help="How it is drawn, in words.")] = "",
        seed: Annotated[int, typer.Option(min=0, help="Another seed, another asset.")] = 0,
        rig: Annotated[RigType, typer.Option(help="Of a character.")] = RigType.HUMANOID,
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve at every gate.")] = False,
        out: Annotated[Path, typer.Option("--out", "-o", help="The folder for the files.")] = Path("asset"),
        store: Annotated[str | None, typer.Option(help="Where records live; else PENSTOCK_STORE.")] = None,
        objects: Annotated[str | None, typer.Option(help="Where files live; else PENSTOCK_OBJECTS.")] = None,
    ) -> None:
        """Make a game asset of a sentence: drawn, modelled, rigged, animated, exported."""
        out.mkdir(parents=True, exist_ok=True)
        terminal.writable(out / "thumbnail.png")
        with terminal.working(store=store, objects=objects) as context:
            studio = AssetStudio.within(context)
            job = begin(studio, concept, asset_type=asset_type, style=style, seed=seed, rig=rig)
            terminal.tell(f"{concept} ({asset_type.value}): {', '.join(s.value for s in STEPS[asset_type])}")

            def ask(step: Step) -> str | None:
                if yes:
                    return None
                if typer.confirm(f"Are you content with {step.step_name.value}?", default=True):
                    return None
                return str(typer.prompt("What should be different"))

            seen = follow(studio, job, ask, lambda step: terminal.tell(_line(step)))
            if seen.job.status is Status.FAILED or seen.job.version is None or seen.job.asset_id is None:
                why = (seen.job.error or {}).get("message") or "nobody knows why"
                raise AssetNotMade(f"the asset could not be made: {why}")
            version = downloads.export_version(studio, seen.job.asset_id, seen.job.version, how="files", by=BY)
            for path in bring(studio, version, out):
                terminal.tell(str(path))

    return {"demo assetcreator": assetcreator}


def _line(step: Step) -> str:
    """A run of a stage, in a line."""
    told = {name: step.metrics.get(name) for name in ("faces", "joints", "clips", "seconds")}
    shown = ", ".join(f"{value} {name}" for name, value in told.items() if value not in (None, []))
    return f"  {step.step_name.value:<14} {step.status.value:<9} {shown}"
