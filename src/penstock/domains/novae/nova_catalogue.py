"""The catalogue: all that novae need, from the context of the domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from penstock.auth.caller import Caller
from penstock.declare.option import read_options
from penstock.domains.novae.options import NovaOptions
from penstock.domains.novae.providers.provider import (
    Bibliography,
    FoundProduct,
    NameResolver,
    PhotometryProvider,
    SpectraProvider,
)
from penstock.kernel.idempotency import Claim
from penstock.kernel.store import Store
from penstock.ports.object_store import ObjectStore
from penstock.work.domain_context import DomainContext


class Acquirer(Protocol):
    """Brings products here; see `providers.acquisition.Acquisition`."""

    def acquire(
        self, product: FoundProduct, folder: Path, *, member: str | None = ..., tell: Callable[[float], None] = ...
    ) -> Any:
        """A product, brought into an empty folder."""


@dataclass(frozen=True)
class NovaSources:
    """Whoever knows of novae elsewhere. Each is asked in this order; none need be there."""

    resolvers: tuple[NameResolver, ...] = ()
    bibliographies: tuple[Bibliography, ...] = ()
    spectra: tuple[SpectraProvider, ...] = ()
    photometry: tuple[PhotometryProvider, ...] = ()
    acquisition: Acquirer | None = None
    "Who brings the products of all of them here."


def nova_sources(context: DomainContext) -> NovaSources:
    """Those that a deployment has chosen."""
    # Only whoever asks them needs their clients.
    from penstock.domains.novae.providers.provider_choice import Providers

    chosen = Providers.within(context)
    return NovaSources(
        resolvers=(chosen.resolver,),
        bibliographies=(chosen.bibliography,),
        spectra=chosen.spectra,
        photometry=chosen.photometry,
        acquisition=chosen.acquisition,
    )


@dataclass(frozen=True)
class NovaCatalogue:
    """Where records and files are, who is asked of novae, and what the deployment has chosen."""

    store: Store
    objects: ObjectStore
    sources: NovaSources = field(default_factory=NovaSources)
    options: NovaOptions = field(default_factory=NovaOptions)
    once: Claim | None = None
    "The claim of the request that is carried out; the change of its action ends it."

    @property
    def bucket(self) -> str:
        """The bucket that its files are said to lie in."""
        return self.options.bucket

    @classmethod
    def within(cls, context: DomainContext) -> NovaCatalogue:
        """That of a context: settings are read, and sources opened, once in its life."""
        return context.made_once(cls._made)

    @classmethod
    def _made(cls, context: DomainContext) -> NovaCatalogue:
        options = read_options(NovaOptions, context.setting)
        return cls(context.store, context.objects, nova_sources(context), options)

    def used_by(self, caller: Caller) -> NovaCatalogue:
        """The same catalogue for a request that somebody makes: with what they may see, and their claim."""
        return replace(self, store=caller.store, once=caller.claim)
