"""Sources that know what a test has told them, take no time, and fail when they are told to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from penstock.domains.novae.nova_catalogue import NovaSources
from penstock.domains.novae.nova_table import normalize_name
from penstock.domains.novae.providers.provider import (
    BadPaper,
    ClassicalNova,
    Paper,
    Resolution,
    ResolvedObject,
    SkyPlace,
)
from tests.domains.novae.archive import Downloads


def nova_object(
    name: str,
    *aliases: str,
    at: tuple[float, float] | None = None,
    kind: ClassicalNova = ClassicalNova.YES,
    source: str = "known",
) -> ResolvedObject:
    """An object as a resolver tells of it."""
    place = None if at is None else SkyPlace(*at)
    return ResolvedObject(name, aliases, place, object_type="Nova", is_classical_nova=kind, source=source)


@dataclass
class KnownNames:
    """A resolver of the names it was told."""

    objects: list[ResolvedObject] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    fails: Callable[[str], None] = lambda name: None

    def resolve(self, name: str) -> Resolution:
        self.asked.append(name)
        self.fails(name)
        wanted = normalize_name(name)
        named = [o for o in self.objects if wanted in map(normalize_name, (o.canonical_name, *o.aliases))]
        return Resolution(tuple(named))


@dataclass
class KnownPapers:
    """A bibliography of the papers it was told."""

    held: list[Paper | BadPaper] = field(default_factory=list)
    fails: Callable[[], None] = lambda: None

    def papers(self, names: Sequence[str] = (), bibcodes: Sequence[str] = ()) -> Iterator[Paper | BadPaper]:
        self.fails()
        yield from self.held


@dataclass
class KnownSky:
    """All that is known elsewhere in a test."""

    names: KnownNames = field(default_factory=KnownNames)
    other_names: KnownNames = field(default_factory=KnownNames)
    papers: KnownPapers = field(default_factory=KnownPapers)
    downloads: Downloads = field(default_factory=Downloads)

    def sources(self) -> NovaSources:
        archives = tuple(self.downloads.archives)
        return NovaSources(
            resolvers=(self.names, self.other_names),
            bibliographies=(self.papers,),
            spectra=archives,
            photometry=archives,
            acquisition=self.downloads,
        )
