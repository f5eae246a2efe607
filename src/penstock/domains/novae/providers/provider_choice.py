"""Everybody who is asked about novae, as a deployment has chosen them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from penstock.declare.option import read_options
from penstock.domains.novae.providers.acquisition import Acquisition
from penstock.domains.novae.providers.ads_bibliography import AdsBibliography, BibliographyChain
from penstock.domains.novae.providers.local_index import LocalIndex
from penstock.domains.novae.providers.mast_resolver import MastResolver
from penstock.domains.novae.providers.obscore import ObsCoreProvider
from penstock.domains.novae.providers.politeness import Politeness
from penstock.domains.novae.providers.provider import (
    Bibliography,
    NameResolver,
    PhotometryProvider,
    SpectraProvider,
)
from penstock.domains.novae.providers.provider_options import (
    ChosenProvider,
    ProviderOptions,
    checked_url,
    chosen_providers,
    token_of,
    trusted_origins,
)
from penstock.domains.novae.providers.resolver_chain import ResolverChain
from penstock.domains.novae.providers.ssa import SsaProvider
from penstock.domains.novae.providers.zip_archive import ZipLimits
from penstock.errors import Misconfigured
from penstock.generation.circuit_breaker import CircuitBreaker
from penstock.generation.provider_http import ProviderService
from penstock.ports.clock import Clock, SystemClock
from penstock.work.domain_context import DomainContext


@dataclass(frozen=True, slots=True)
class Providers:
    """Everybody who is asked about novae."""

    spectra: tuple[SpectraProvider, ...] = ()
    photometry: tuple[PhotometryProvider, ...] = ()
    resolver: NameResolver = field(default_factory=lambda: ResolverChain(()))
    bibliography: Bibliography = field(default_factory=lambda: BibliographyChain(()))
    acquisition: Acquisition = field(default_factory=Acquisition)
    services: tuple[ProviderService, ...] = ()

    @classmethod
    def within(cls, context: DomainContext) -> Providers:
        """Those of a context: settings are read, and providers built, once in its life."""
        return context.made_once(_made)

    def close(self) -> None:
        """Give back every connection."""
        for service in self.services:
            service.close()


def _made(context: DomainContext) -> Providers:
    providers = chosen(context.setting, clock=context.store.clock)
    context.at_end(providers.close)
    return providers


def chosen(
    setting: Callable[[str], str | None], *, clock: Clock | None = None, politeness: Politeness | None = None
) -> Providers:
    """The providers that settings name; Misconfigured says what is wrong with them."""
    return _Building(setting, clock or SystemClock(), politeness).providers()


class _Building:
    """Providers while they are put together."""

    def __init__(self, setting: Callable[[str], str | None], clock: Clock, politeness: Politeness | None) -> None:
        self._setting, self._clock = setting, clock
        self._options = read_options(ProviderOptions, setting)
        self._trusted = trusted_origins(self._options.trusted)
        self._politeness = politeness or Politeness(per_second=self._options.per_second, at_once=self._options.at_once)
        self._services: dict[str, ProviderService] = {}
        self._own: set[tuple[str, str, int]] = {each.origin for each in self._trusted}

    def providers(self) -> Providers:
        known = [(each, self._provider(each)) for each in chosen_providers(self._options.providers)]
        folders = {each.name: made for each, made in known if isinstance(made, LocalIndex)}
        archives = dict(self._services)
        resolvers = (*folders.values(), *self._resolver())
        libraries = (*folders.values(), *self._bibliography())
        return Providers(
            spectra=tuple(made for _, made in known),
            photometry=tuple(folders.values()),
            resolver=ResolverChain(resolvers),
            bibliography=BibliographyChain(libraries),
            acquisition=self._acquisition(archives, folders),
            services=tuple(self._services.values()),
        )

    def _provider(self, each: ChosenProvider) -> LocalIndex | SsaProvider | ObsCoreProvider:
        if each.kind == "local":
            if not Path(each.place).is_dir():
                raise Misconfigured(f"NC_PROVIDERS: {each.name} is to be a folder, and {each.place} is none")
            return LocalIndex(each.name, Path(each.place))
        if find_spec("pyvo") is None:
            raise Misconfigured(f"NC_PROVIDERS: {each.name} needs pyvo; run: pip install 'penstock[astro]'")
        service = self._service(each.name, each.place, None)
        kind = SsaProvider if each.kind == "ssa" else ObsCoreProvider
        return kind(each.name, each.place, service, self._options.radius / 3600, self._options.most_products)

    def _resolver(self) -> list[NameResolver]:
        if not self._options.resolver:
            return []
        return [MastResolver(self._options.resolver, self._service("NC_RESOLVER", self._options.resolver, None))]

    def _bibliography(self) -> list[Bibliography]:
        url = self._options.bibliography
        token = token_of(self._setting, wanted=bool(url))
        return [AdsBibliography(url, self._service("NC_BIBLIOGRAPHY", url, token))] if url else []

    def _service(self, name: str, url: str, token: str | None) -> ProviderService:
        there = checked_url(url, name)
        self._own.add(there.origin)
        self._services[name] = ProviderService(
            there.root,
            token,
            timeout=self._options.answer_time,
            trusted=[each.url for each in self._trusted],
            breaker=CircuitBreaker(clock=self._clock),
            turn=self._politeness.turn,
        )
        return self._services[name]

    def _acquisition(self, archives: dict[str, ProviderService], folders: dict[str, LocalIndex]) -> Acquisition:
        return Acquisition(
            services=archives,
            locals=folders,
            trusted=frozenset(self._own),
            most=self._options.download_bytes,
            longest=self._options.download_time,
            zip_limits=ZipLimits(bytes=self._options.unpacked_bytes),
        )
