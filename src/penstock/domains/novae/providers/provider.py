"""The ports: what this domain asks of whoever knows novae, and the values they answer with.

What is wrong with one product, object or paper is told beside the others as a `FileFinding`, and never raised. What is
raised says how the whole question is to be taken:

| raised | meaning |
|---|---|
| `RetryLater`, `Unavailable` | ask again: 429 and 503 as late as they say, other 5xx, silence, an answer cut off |
| `PutOff` | it was not even asked: others have their turn first, or it fails too often |
| `Terminal` | it refuses: any other 4xx, or it leads where nobody may go |
| `Quarantine`, as `UnusableAnswer` | it answered with what cannot be read: a person must look |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any, Protocol

from penstock.astronomy.judgement import FileFinding
from penstock.errors import InvalidValue, telling
from penstock.work.errors import Quarantine


class UnusableAnswer(Quarantine):
    """An answer, or a file, that came whole and cannot be used; ``finding`` says what was wrong with it."""

    def __init__(self, finding: FileFinding) -> None:
        super().__init__(finding.message)
        self.finding = finding
        self.code = finding.code
        telling(self, finding.message)


@dataclass(frozen=True, slots=True)
class SkyPlace:
    """A place on the sky, ICRS, in degrees."""

    ra: float
    dec: float

    def __post_init__(self) -> None:
        if not (isfinite(self.ra) and isfinite(self.dec) and 0 <= self.ra < 360 and -90 <= self.dec <= 90):
            raise InvalidValue(
                f"right ascension {self.ra} and declination {self.dec} are no place on the sky; "
                "they are degrees, from 0 to below 360 and from -90 to 90"
            )


@dataclass(frozen=True, slots=True)
class NovaQuery:
    """The nova that is asked about."""

    names: tuple[str, ...]
    "The preferred one first."
    position: SkyPlace | None = None


# Files


@dataclass(frozen=True, slots=True)
class FoundProduct:
    """A file that a provider has of a nova."""

    provider: str
    native_id: str | None
    "What the provider itself calls it."
    identity: str
    "The same for the same product, however often and under whichever URL it is published; see `product_identity`."
    locators: tuple[str, ...]
    "Where it can be had, the best first: URLs, or ``local:`` and a path within a local index."
    hints: Mapping[str, Any] = field(default_factory=dict)
    "title, instrument, telescope, target, observed_at, format, size, ra, dec, wavelength_range (Ångström), …: JSON."
    version: str | None = None
    "What tells this edition of it from another, as far as the provider says: an etag, a version, a date."
    checksum: str | None = None
    "sha256:… or md5:…, if the provider says."
    weak: bool = False
    "The identity is but a time and a size: two products may share it, and a new edition loses it."

    @property
    def edition(self) -> str | None:
        """All that is told of this edition; None if that is nothing."""
        told = (self.version, self.checksum, self.hints.get("size"))
        return None if not any(told) else "|".join("" if each is None else str(each) for each in told)

    def republished(self, since: str | None) -> bool:
        """Is this another edition than the one ``since`` tells of? Where nothing is told, nobody can say."""
        return self.edition is not None and since is not None and self.edition != since


@dataclass(frozen=True, slots=True)
class ProductSearch:
    """What a provider has of a nova."""

    products: tuple[FoundProduct, ...]
    findings: tuple[FileFinding, ...] = ()
    "What is wrong with rows that are no product, and with the answer."
    complete: bool = True
    "There is no more than this: the answer was not cut, and everything was asked."

    def __iter__(self) -> Iterator[FoundProduct]:
        return iter(self.products)

    def __len__(self) -> int:
        return len(self.products)


class SpectraProvider(Protocol):
    """Finds the spectra of a nova."""

    @property
    def name(self) -> str:
        """Part of every identity: it stays as it is for as long as its datasets are kept."""

    def products(self, nova: NovaQuery) -> ProductSearch:
        """The spectra it has of a nova, each once."""


class PhotometryProvider(Protocol):
    """Finds the light curves of a nova."""

    @property
    def name(self) -> str:
        """Part of every identity."""

    def photometry(self, nova: NovaQuery) -> ProductSearch:
        """The tables it has of a nova, each once; ``hints["ticket"]`` is the locator of what describes its columns."""


# Names


class ClassicalNova(StrEnum):
    """Is an object a classical nova?"""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DiscoveryTold:
    """When a source says that an object was discovered."""

    date: str
    "YYYY-MM-DD, with 00 for what is not told."
    derived: bool = False
    "It has concluded that from other data."


@dataclass(frozen=True, slots=True)
class ResolvedObject:
    """An object that a name may mean."""

    canonical_name: str
    aliases: tuple[str, ...] = ()
    position: SkyPlace | None = None
    object_type: str | None = None
    "As the source says it."
    is_classical_nova: ClassicalNova = ClassicalNova.UNKNOWN
    source: str = ""
    discovered: tuple[DiscoveryTold, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a name may mean: nothing, one object, or several that a person must tell apart."""

    matches: tuple[ResolvedObject, ...] = ()
    findings: tuple[FileFinding, ...] = ()


class NameResolver(Protocol):
    """Knows what names mean."""

    def resolve(self, name: str) -> Resolution:
        """What a name may mean."""


# Papers


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper."""

    reference_id: str
    "Its bibcode."
    title: str | None = None
    authors: tuple[str, ...] = ()
    date: str | None = None
    "YYYY-MM-DD, with 00 for a month or a day that is not known."
    doi: str | None = None
    publication: str | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class BadPaper:
    """One that cannot be used, told beside the others."""

    finding: FileFinding


class Bibliography(Protocol):
    """Knows papers about novae."""

    def papers(self, names: Sequence[str] = (), bibcodes: Sequence[str] = ()) -> Iterator[Paper | BadPaper]:
        """The papers with these bibcodes and those about these names, each once."""
