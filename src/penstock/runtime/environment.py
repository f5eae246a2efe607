"""The deployment that the environment of a process describes, for functions which a cloud calls with nothing else."""

from __future__ import annotations

from penstock.errors import Misconfigured
from penstock.plugin import DomainPlugin, own_settings
from penstock.ports.delivery import DeliveringEngine
from penstock.runtime.composition import open_archive, open_objects, open_store
from penstock.runtime.settings import read_settings
from penstock.work.domain_context import DomainContext


def open_context(plugin: DomainPlugin) -> DomainContext:
    """What a domain works on, as the settings say; its tables are there already."""
    settings = read_settings((plugin.domain,))
    store = open_store(settings.store, settings=settings)
    if not isinstance(store.engine, DeliveringEngine):
        store.close()
        raise Misconfigured(
            f"the store is {settings.store.partition(':')[0]}, which calls no function with its changes; "
            "set PENSTOCK_STORE in the function's environment to the store whose stream calls it: dynamodb://REGION"
        )
    return DomainContext(
        store,
        open_objects(settings.objects, settings=settings),
        own_settings([plugin], settings.variables),
        open_archive(settings.archive, settings=settings),
    )
