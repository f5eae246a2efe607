"""What happens while a name is looked up and its files are worked on, for whoever watches: lines, and a bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from penstock.domains.novae.catalogue_lines import VERDICTS, contents_of_dataset, file_of, shown, told_nova
from penstock.domains.novae.catalogue_progress import AT_WORK, CatalogueProgress, VerdictCount
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.discovery_date import discovery_words
from penstock.plugin import CommandContext


def show_progress(terminal: CommandContext, watched: Iterator[CatalogueProgress]) -> CatalogueProgress:
    """Tell of each thing once it is known, with a bar below while somebody watches; how it stands in the end."""
    console = terminal.console()
    telling = _Telling(lambda line: console.print(line, markup=False, soft_wrap=True))
    with _bars(console) as bars:
        task = bars.add_task("looking up the name", total=None, told="")
        for found in watched:
            telling.tell(found)
            done, total = found.worked_on
            told = VerdictCount.of(found.datasets).told() if found.datasets else ""
            bars.update(task, description=_doing(found), total=total or None, completed=done, told=told)
    return found


def _bars(console: Any) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[told]}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _doing(found: CatalogueProgress) -> str:
    if found.nova is None:
        return "looking up the name"
    if not found.asked:
        return "asking who has spectra"
    done, total = found.worked_on
    return f"downloading and judging {done} of {total}"


class _Telling:
    """Says each thing once."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._said = say, set[str]()
        self._known: dict[object, object] = {}

    def tell(self, found: CatalogueProgress) -> None:
        if found.nova is not None:
            self._once("name", f"resolved    {told_nova(found.nova)}")
        if found.papers is not None:
            self._once("papers", f"papers      {found.papers} found")
        if found.asked:
            self._once("products", f"products    {_products(found)}")
        for dataset in found.datasets:
            self._verdict(dataset)
        if found.over and found.nova is not None and (words := discovery_words(found.nova)) is not None:
            self._once("date", f"date        {words}")

    def _once(self, what: str, line: str) -> None:
        if what not in self._said:
            self._said.add(what)
            self._say(line)

    def _verdict(self, dataset: Dataset) -> None:
        state = dataset.processing_status
        if state in AT_WORK or self._known.get(dataset.dataset_id) == state:
            return
        self._known[dataset.dataset_id] = state
        word = "waits" if VERDICTS[state][0].startswith("waits") else VERDICTS[state][0]
        self._say(f"{word:<12}{shown(file_of(dataset), 48)} · {shown(contents_of_dataset(dataset), 200)}")


def _products(found: CatalogueProgress) -> str:
    kinds = VerdictCount.of(found.datasets).by_type
    told = [f"{count} {'of spectra' if kind == 'spectra' else 'of photometry'}" for kind, count in kinds.items()]
    return f"{' and '.join(told)} known" if told else "none known"
