"""The bundle of a nova as a file of this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from penstock.domains.novae import bundles
from penstock.domains.novae.bundles import BundleState
from penstock.domains.novae.catalogue_progress import commits
from penstock.domains.novae.file_adding import BY
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.errors import InvalidValue
from penstock.files.object_reads import fetch
from penstock.kernel.store import Store
from penstock.work import Task, TaskStatus


def write_bundle_of(catalogue: NovaCatalogue, nova_id: UUID, out: Path) -> BundleState:
    """The bundle of a nova as a file; it is made first if something has changed."""
    state = bundles.ask_bundle(catalogue, nova_id, by=BY)
    if state.task_id is not None:
        task_done(catalogue.store, state.task_id)
        state = bundles.bundle_of(catalogue, nova_id)
    if state.bundle is None:
        raise InvalidValue("the bundle could not be made")
    with TemporaryDirectory(prefix="penstock-nc-", dir=out.absolute().parent) as folder:
        fetch(catalogue.objects, state.bundle.bundle_key, Path(folder)).replace(out)
    return state


def task_done(store: Store, task_id: str, tell: Callable[[Task], None] = lambda task: None) -> Task:
    """A task that is done; InvalidValue tells why it is not."""
    for _ in commits(store):
        task = store.get(Task.at(task_id=task_id))
        tell(task)
        if task.status is TaskStatus.DONE:
            return task
        if task.status not in (TaskStatus.WAITING, TaskStatus.RUNNING):
            raise InvalidValue(f"{task.name} is {task.status.value}: {task.error}")
    raise AssertionError("commits never end")
