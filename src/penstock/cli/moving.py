"""Commands that move records and files: exports and imports, a live copy, backups of the embedded store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from penstock.cli.installed import domains, installed
from penstock.cli.terminal import AsJson, ObjectsUrl, StoreUrl, busy, opened, settings, show, tell
from penstock.errors import InvalidValue
from penstock.net.shown import without_secrets
from penstock.ports.object_store import Objects
from penstock.runtime.composition import open_objects, open_store
from penstock.runtime.embedded_backup import back_up_system, restore_system
from penstock.runtime.service import Service
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.transfer.export import Export
from penstock.transfer.export_manifest import FILES, Manifest
from penstock.transfer.imported_export import ImportedExport
from penstock.transfer.live_copy import Copied, LiveCopy
from penstock.transfer.transfer_selection import Selection, select
from penstock.work.working import WORKING

Folder = Annotated[Path, typer.Argument(help="A folder of its own.")]
WithoutFiles = Annotated[bool, typer.Option("--without-files", help="Records alone.")]


def export(
    folder: Folder,
    only: Annotated[str | None, typer.Option("--only", help="Records of this domain alone.")] = None,
    project: Annotated[str | None, typer.Option("--project", help="Records of this project alone.")] = None,
    form: Annotated[str, typer.Option("--format", help="jsonl, or parquet for tools that read columns.")] = "jsonl",
    without_files: WithoutFiles = False,
    without_personal: Annotated[
        bool, typer.Option("--without-personal", help="Leave out the fields that are declared personal.")
    ] = False,
    store: StoreUrl = None,
    objects: ObjectsUrl = None,
    as_json: AsJson = False,
) -> None:
    """Write records and their files into a folder, with counts and checksums. One that was ended goes on."""
    selection = _selection(only=only, project=project)
    with opened(store) as handle, _counting("Exporting") as told:
        files = None if without_files else (_objects(objects), _beside(folder))
        made = Export(
            handle,
            folder,
            selection,
            domain=only,
            personal=not without_personal,
            encoding=form,
            files=files,
            told=told,
        ).run()
    _show_export(made, folder, as_json=as_json)


def import_(
    folder: Folder,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Verify only, and write nothing.")] = False,
    into_existing: Annotated[
        bool, typer.Option("--into-existing", help="Into a store with records; those of the same key are replaced.")
    ] = False,
    without_files: WithoutFiles = False,
    store: StoreUrl = None,
    objects: ObjectsUrl = None,
    as_json: AsJson = False,
) -> None:
    """Verify an export as a whole, and only then write it into a store. One that was ended goes on."""
    selection = _selection()
    with opened(store) as handle, _counting("Verifying" if dry_run else "Importing") as told:
        files = None if without_files else (_beside(folder), _objects(objects))
        export = ImportedExport(folder, selection.entities, files=files, told=told)
        if dry_run:
            found = export.verify()
            found.check()
        else:
            handle.ensure(*domains(), WORKING)
            found = export.run(handle, into_existing=into_existing)
    if as_json:
        print(json.dumps({"records": found.records, "files": found.files, "written": not dry_run}))
    elif dry_run:
        tell(f"Sound: {found.records:,} records and {found.files:,} files. Nothing was written.")
    else:
        tell(f"Imported {found.records:,} records and {found.files:,} files.")


import_.__command__ = "import"  # type: ignore[attr-defined]


def copy(
    to: Annotated[str, typer.Option("--to", help="The URL of the store to move to; empty, or filled by this copy.")],
    from_: Annotated[
        str | None, typer.Option("--from", help="The URL of the store that is left; else PENSTOCK_STORE.")
    ] = None,
    objects_from: Annotated[
        str | None, typer.Option("--objects-from", help="Where its files lie; else PENSTOCK_OBJECTS.")
    ] = None,
    objects_to: Annotated[
        str | None, typer.Option("--objects-to", help="Where they go; without it they stay where they are.")
    ] = None,
    writers_stopped: Annotated[
        bool, typer.Option("--writers-stopped", help="Nobody writes any more, for a store that cannot refuse them.")
    ] = False,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Give up a copy: open the store that is left to writers again.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Move a store in use to another engine, then have it refuse writes. One that was ended goes on."""
    chosen = settings(store=from_, objects=objects_from)
    if chosen.store == to:
        raise InvalidValue("a store cannot be copied to itself; name another with --to")
    service = Service(chosen, installed())
    source, target = service.context.store, open_store(to, settings=chosen)
    try:
        with _counting("Copying") as told:
            if not abandon:
                target.ensure(*domains(), WORKING)
            files = None if objects_to is None else (_objects(objects_from), _objects(objects_to))
            moving = LiveCopy(
                source,
                target,
                _selection(),
                origin=without_secrets(chosen.store),
                goal=without_secrets(to),
                files=files,
                feeds={name: feed.follows for name, feed in service.feeds.items()},
                writers_stopped=writers_stopped,
                told=told,
            )
            done = None if abandon else moving.run()
            if abandon:
                moving.abandon()
    finally:
        source.close()
        target.close()
    _show_copy(done, to, objects_to, as_json=as_json)


def backup(folder: Folder, store: StoreUrl = None, objects: ObjectsUrl = None, as_json: AsJson = False) -> None:
    """Copy the embedded store and its files into a folder, while it is in use."""
    chosen = settings(store=store, objects=objects)
    with _counting("Backing up") as told:
        made = back_up_system(chosen.store, chosen.objects, folder, [*domains(), SYSTEM_RECORDS, WORKING], told=told)
    if as_json:
        print(msgspec.json.encode(made).decode())
    else:
        tell(f"The store and {made.objects:,} files, as of {made.made_at}, are in {folder}.")
        for key in made.missing:
            tell(f"A record points at the file {key}, which is nowhere.", style="red")
        tell(f"Restore it with: penstock restore {folder} --store sqlite:///FILE --objects files:///FOLDER")


def restore(folder: Folder, store: StoreUrl = None, objects: ObjectsUrl = None, as_json: AsJson = False) -> None:
    """Verify a backup as a whole, and put it where there is no store yet."""
    chosen = settings(store=store, objects=objects)
    with _counting("Restoring") as told:
        made = restore_system(folder, chosen.store, chosen.objects, told=told)
    if as_json:
        print(msgspec.json.encode(made).decode())
    else:
        tell(f"The store and {made.objects:,} files are as they were at {made.made_at}.")


def _selection(*, only: str | None = None, project: str | None = None) -> Selection:
    return select(domains(), [SYSTEM_RECORDS, WORKING], domain=only, project=project)


def _objects(url: str | None) -> Objects:
    chosen = settings(objects=url)
    return open_objects(chosen.objects, settings=chosen)


def _beside(folder: Path) -> Objects:
    return open_objects(f"files:///{(folder / FILES).absolute()}")


def _show_export(made: Manifest, folder: Path, *, as_json: bool) -> None:
    rows = [
        {"entity": label, "records": sum(p.records for p in entity.parts), "parts": len(entity.parts)}
        for label, entity in made.entities.items()
        if entity.parts
    ]
    unreadable = [name for entity in made.entities.values() for name in entity.unreadable]
    if as_json:
        told = {"folder": str(folder), "records": made.records, "files": made.objects, "entities": rows}
        print(json.dumps({**told, "unreadable": unreadable}, indent=2))
        return
    show(rows, title="Exported", as_json=False, empty="There are no records.")
    files = "" if made.objects is None else f" and {made.objects:,} files"
    tell(f"{made.records:,} records{files} are in {folder}.")
    for name in unreadable:
        tell(f"{name} cannot be read, and is not in it.", style="red")


def _show_copy(done: Copied | None, to: str, objects: str | None, *, as_json: bool) -> None:
    if done is None:
        print(json.dumps({"abandoned": True})) if as_json else tell("The store takes writes again, as before.")
        return
    if as_json:
        print(json.dumps({**vars(done), "to": without_secrets(to)}, indent=2))
        return
    rows = [{"entity": label, "records": number} for label, number in done.records.items() if number]
    show(rows, title="Copied", as_json=False, empty="There were no records.")
    tell(
        f"{sum(done.records.values()):,} records in bulk, {done.changes:,} changes behind them, {done.files:,} files; "
        f"{done.compared:,} records compared. Writers were stopped for the last {done.stopped_seconds:.1f} s of it."
    )
    tell("The store that is left refuses writes from now on. Go on with:")
    tell(f"  PENSTOCK_STORE={without_secrets(to)}")
    if objects is not None:
        tell(f"  PENSTOCK_OBJECTS={without_secrets(objects)}")


@contextmanager
def _counting(doing: str) -> Iterator[Callable[[str, int], Any]]:
    """Shows a person how far something is; a program that reads along sees nothing of it."""
    terminal, numbers = Console(stderr=True), dict[str, int]()
    with busy(doing) as status:

        def told(what: str, number: int) -> None:
            numbers[what] = numbers.get(what, 0) + number
            if terminal.is_terminal and hasattr(status, "update"):
                status.update(f"{doing} … {what} {numbers[what]:,}")

        yield told
