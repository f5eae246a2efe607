"""What the commands about novae share: which nova and which dataset is meant, and what waits for a person."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.domains.novae.catalogue_lines import told_doubt
from penstock.domains.novae.data_records import QuarantineEntry
from penstock.domains.novae.dataset_records import Dataset, DatasetPlace
from penstock.domains.novae.errors import NoSuchDataset, NoSuchNova
from penstock.domains.novae.model import Doubt, Nova, NovaEntry
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_names import nova_called
from penstock.domains.novae.runs import followed
from penstock.domains.novae.states import DatasetType, NovaStatus
from penstock.errors import InvalidValue
from penstock.kernel.store import Store
from penstock.operations.reads import Query
from penstock.plugin import CommandContext

INTERRUPTED = 130
"How a command ends that somebody has stopped."
_AT_ONCE, _SUGGESTED, _LOOKED_AT = 100, 3, 5000
StoreUrl = Annotated[str | None, typer.Option("--store", help="Where records live; else PENSTOCK_STORE.")]
ObjectsUrl = Annotated[str | None, typer.Option("--objects", help="Where files live; else PENSTOCK_OBJECTS.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
OfNova = Annotated[str | None, typer.Option("--nova", "-n", help="Its nova, by name or id; else it is looked for.")]
DatasetId = Annotated[UUID, typer.Argument(help="Which dataset.", show_default=False)]


@contextmanager
def going_on(terminal: CommandContext) -> Iterator[None]:
    """Something that may be interrupted, and said again."""
    try:
        yield
    except KeyboardInterrupt:
        terminal.tell("Stopped. Say the same again, and it goes on where it was.")
        raise typer.Exit(INTERRUPTED) from None


def print_json(data: Any) -> None:
    """Data for programs."""
    print(json.dumps(data, indent=2, default=str))


def meant_nova(store: Store, text: str) -> Nova:
    """The nova of a name or an id; NoSuchNova says what may have been meant."""
    try:
        return followed(store, UUID(text))
    except ValueError:
        pass
    try:
        return nova_called(store, text)
    except NoSuchNova:
        raise NoSuchNova(f"no nova is called {text!r}{_suggested(store, text)}") from None


def _suggested(store: Store, text: str) -> str:
    known = {
        each.preferred_name for each in islice(store.find(NovaEntry.by_status(status=NovaStatus.ACTIVE)), _LOOKED_AT)
    }
    lower = {name.lower(): name for name in known}
    near = [lower[name] for name in get_close_matches(text.lower(), lower, _SUGGESTED, 0.6)]
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return f'; have it looked up by: penstock novae init "{text}"'


def meant_dataset(store: Store, dataset_id: UUID, nova: str | None) -> Dataset:
    """A dataset by its id: of a nova that is named, or of whichever has it."""
    novae = [meant_nova(store, nova).nova_id] if nova is not None else _all_novae(store)
    for some in _in_batches(novae):
        places = store.get_many([DatasetPlace.at(nova_id=each, dataset_id=dataset_id) for each in some])
        found = next((place for place in places if place is not None), None)
        if found is not None:
            return store.get(found.dataset)
    raise NoSuchDataset(
        f"no nova has a dataset {dataset_id}" if nova is None else f"{nova} has no dataset {dataset_id}"
    )


def _all_novae(store: Store) -> Iterator[UUID]:
    """Those with something that waits first: it is those that people ask for."""
    seen: set[UUID] = set()
    for entry in islice(store.find(QuarantineEntry.waiting()), _AT_ONCE):
        if entry.nova_id not in seen:
            seen.add(entry.nova_id)
            yield followed(store, entry.nova_id).nova_id
    for status in (NovaStatus.ACTIVE, NovaStatus.DEPRECATED):
        yield from (entry.nova_id for entry in store.find(NovaEntry.by_status(status=status)))


def _in_batches(ids: Any) -> Iterator[list[UUID]]:
    rest = iter(ids)
    while some := list(islice(rest, _AT_ONCE)):
        yield some


def first(store: Store, query: Query[Any], most: int) -> tuple[list[Any], bool]:
    """The first records of a query, and whether there are more."""
    found = list(islice(store.find(query), most + 1))
    return found[:most], len(found) > most


def waiting_of(store: Store, most: int) -> tuple[list[tuple[QuarantineEntry, str]], bool]:
    """What waits for a person, each with the name of its nova; what a deprecated one has waits for nobody."""
    names: dict[UUID, str | None] = {}
    found: list[tuple[QuarantineEntry, str]] = []
    for entry in store.find(QuarantineEntry.waiting()):
        if entry.nova_id not in names:
            names[entry.nova_id] = _name_of(store, entry.nova_id)
        if (name := names[entry.nova_id]) is not None:
            found.append((entry, name))
        if len(found) > most:
            break
    return found[:most], len(found) > most


def _name_of(store: Store, nova_id: UUID) -> str | None:
    try:
        nova = followed(store, nova_id)
    except NoSuchNova:
        return str(nova_id)
    return None if nova.status is NovaStatus.DEPRECATED else nova.preferred_name


def tell_how_to_decide(terminal: CommandContext, catalogue: NovaCatalogue, datasets: list[Dataset]) -> None:
    """What waits for a person, and how they decide about it."""
    if not datasets:
        return
    one = datasets[0]
    many = f"{len(datasets)} datasets wait" if len(datasets) > 1 else "One dataset waits"
    terminal.tell(f"{many} for a person. Look, and decide:")
    terminal.tell(f"  penstock novae quarantine show {one.dataset_id} --out evidence")
    if (hint := _hint_for(one)) is not None:
        terminal.tell(f"  penstock novae quarantine clear {one.dataset_id} {hint}")
    terminal.tell(f'  penstock novae quarantine reject {one.dataset_id} --reason "of no use"')


def _hint_for(dataset: Dataset) -> str | None:
    """What is said most likely of a dataset, as its code and its reason ask for it; None where no words can help."""
    reason, code = str((dataset.quarantine_details or {}).get("reason", "")).lower(), dataset.quarantine_reason_code
    named = next((name for name in _HINTS if f"hint {name}" in reason or f"hint '{name}'" in reason), None)
    if named is not None:
        own = _OF_TABLES if dataset.dataset_type is DatasetType.PHOTOMETRY else {}
        return f"--hint {named}={own.get(named, _HINTS[named])}"
    if dataset.dataset_type is DatasetType.PHOTOMETRY and ("ticket" in reason or "hint columns" in reason):
        return "--ticket TICKET.txt"
    if dataset.dataset_type is DatasetType.SPECTRA and "UNIT" in (code or ""):
        return f"--hint unit={_HINTS['unit']}"
    return None


_HINTS = {
    "flux_unit": "erg/s/cm2/Angstrom",
    "unit": "Angstrom",
    "profile": "NAME",
    "aperture": "1",
    "target": "NUMBER",
    "medium": "air",
    "frame": "rest",
    "member": "FILE",
    "object": "this",
    "time_system": "HJD",
    "band": "V",
    "epoch": "2012-06-01",
    "outburst": "2012-06-01",
    "table": "1",
}


_OF_TABLES = {"unit": "mag", "target": "NAME"}


def tell_doubt(terminal: CommandContext, store: Store, job_run_id: UUID) -> None:
    """What a run could not know, and how a person decides about it."""
    doubt = store.lookup(Doubt.at(job_run_id=job_run_id))
    for line in told_doubt(doubt) if doubt is not None else []:
        terminal.tell(line)


def given_hints(said: list[str] | None) -> dict[str, Any]:
    """Hints as NAME=VALUE; InvalidValue says what is none."""
    hints: dict[str, Any] = {}
    for each in said or []:
        name, equals, value = each.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise InvalidValue(f"--hint {each!r} is none; write NAME=VALUE, such as unit=nm")
        hints[name.strip()] = _value(name.strip(), value.strip())
    return hints


def _value(name: str, text: str) -> Any:
    """What stands in braces is JSON: such as columns={"time": 1}."""
    if not text.startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise InvalidValue(f"--hint {name} is no JSON: {text[:80]}") from None


def text_of(path: Path | None, what: str, most: int) -> str | None:
    """What a file says; InvalidValue if it cannot be read."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise InvalidValue(f"{what} {path} cannot be read: {error.strerror or error}") from None
    if len(data) > most:
        raise InvalidValue(f"{what} {path} has more than {most:,} bytes; is it the right file?")
    return data.decode("utf-8", "replace")
