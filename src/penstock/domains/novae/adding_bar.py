"""How far the adding of a file to a nova is, for whoever watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.filesize import decimal
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from penstock.domains.novae.catalogue_lines import shown
from penstock.domains.novae.file_adding import FileStage, TellStage

_LONGEST = 40


@contextmanager
def adding_bar(console: Any, name: str, *, quiet: bool = False) -> Iterator[TellStage]:
    """A bar while a file is added, gone afterwards; a program that reads along sees none."""
    bars = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[told]}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )
    with bars:
        brief = shown(name, _LONGEST)
        task = bars.add_task(f"{brief}  {FileStage.READING.value}", told="")

        def tell(stage: FileStage, done: float, total: float) -> None:
            counted = stage is not FileStage.JUDGING
            told = f"{decimal(int(done))} of {decimal(int(total))}" if counted else ""
            bars.update(
                task,
                description=f"{brief}  {stage.value}",
                completed=done,
                total=total if counted else None,
                told=told,
            )

        yield tell
