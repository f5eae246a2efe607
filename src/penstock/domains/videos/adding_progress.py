"""How far the adding of a file is, for whoever watches: a bar of bytes, and one of what is encoded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.filesize import decimal
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from penstock.domains.videos.adding import AddingStage, Tell
from penstock.domains.videos.video_lines import shown

_BYTES = (AddingStage.READING, AddingStage.SENDING)
_BESIDE = 62
"What a line has besides the name of the file: stage, bar, bytes and time."
_SHORTEST, _LONGEST = 12, 40
"Characters of a name that stand before its bars."


@contextmanager
def adding_bars(console: Any, name: str) -> Iterator[Tell]:
    """Bars while a file is added, gone afterwards; a program that reads along sees none."""
    bars = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[told]}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    brief, room = shown(name), min(max(console.width - _BESIDE, _SHORTEST), _LONGEST)
    brief = brief if len(brief) <= room else f"{brief[: room - 1]}…"

    def label(stage: AddingStage) -> str:
        return f"{brief if stage in _BYTES else ' ' * len(brief)}  {stage.value:<10}"

    with bars:
        upload = bars.add_task(label(AddingStage.READING), told="")
        # Until it is known how much there is to do, its bar only moves.
        work = bars.add_task("", told="", total=None, start=False, visible=False)

        def tell(stage: AddingStage, done: float, total: float) -> None:
            if stage in _BYTES:
                told = f"{decimal(int(done))} of {decimal(int(total))}"
                bars.update(upload, description=label(stage), completed=done, total=total, told=told)
                return
            bars.stop_task(upload)
            bars.start_task(work)
            bars.update(work, description=label(stage), visible=True)
            # A file that nobody has begun to look at waits for others: nobody knows how long.
            if done or stage is AddingStage.ENCODING:
                bars.update(work, completed=done, total=total, told=f"{done:.0%}")

        yield tell
