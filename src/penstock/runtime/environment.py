"""The deployment that the environment of a process describes, for functions which a cloud calls with nothing else."""

from __future__ import annotations

from penstock.plugin import DomainPlugin, own_settings
from penstock.runtime.composition import open_archive, open_objects, open_store
from penstock.runtime.settings import read_settings
from penstock.work.domain_context import DomainContext


def open_context(plugin: DomainPlugin) -> DomainContext:
    """What a domain works on, as the settings say; its tables are there already."""
    settings = read_settings((plugin.domain,))
    return DomainContext(
        open_store(settings.store, settings=settings),
        open_objects(settings.objects, settings=settings),
        own_settings([plugin], settings.variables),
        open_archive(settings.archive, settings=settings),
    )
