"""From the rows of an archive to products: each once, with all the places it can be had at, the best first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import asin, cos, degrees, radians, sin, sqrt
from typing import Any

from penstock.astronomy.judgement import Finding
from penstock.domains.novae.providers.product_identity import ProductIdentity, product_identity
from penstock.domains.novae.providers.provider import FoundProduct, ProductSearch, SkyPlace
from penstock.domains.novae.providers.spectral_formats import PREFERENCE, spectral_format
from penstock.errors import InvalidValue
from penstock.net.url import read_url

_TOLERANCE = 30 / 3600
"Degrees beyond the radius: an archive may tell the place of an aperture, or count the radius otherwise."
_MOST_FINDINGS = 100
_MOST_LOCATORS = 8


@dataclass(frozen=True, slots=True)
class OfferedFile:
    """One row of an archive's answer: a file it offers."""

    row: int
    native_id: str | None
    locator: str | None
    format: str | None
    place: tuple[float, float] | None
    hints: Mapping[str, Any] = field(default_factory=dict)
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Offers:
    """The products in what an archive offers."""

    provider: str
    around: SkyPlace
    radius: float
    "Degrees."
    most: int

    def search(
        self, offered: Iterable[OfferedFile], *, overflow: bool, findings: Iterable[Finding] = ()
    ) -> ProductSearch:
        """The products, and what is wrong with the other rows."""
        told = list(findings)
        groups: dict[str, list[OfferedFile]] = {}
        identities: dict[str, ProductIdentity] = {}
        for each in offered:
            if (wrong := self._wrong(each)) is not None:
                told.append(wrong)
            elif spectral_format(each.format) in PREFERENCE:
                identity = product_identity(native_id=each.native_id, locators=(str(each.locator),))
                if identity is not None:
                    identities[identity.text] = identity
                    groups.setdefault(identity.text, []).append(each)
        products = [self._product(identities[text], files) for text, files in groups.items()]
        if overflow or len(products) > self.most:
            told.insert(0, self._overflow(len(products)))
        return ProductSearch(
            tuple(products[: self.most]), _bounded(told), complete=not overflow and len(products) <= self.most
        )

    def _wrong(self, offered: OfferedFile) -> Finding | None:
        if not offered.locator:
            return self._finding("NO_LOCATOR", offered, "has no URL to fetch it from")
        try:
            read_url(offered.locator)
        except ValueError as wrong:
            return self._finding("BAD_LOCATOR", offered, f"has a URL that {wrong}")
        if offered.place is None:
            return None
        try:
            away = separation(self.around, SkyPlace(*offered.place))
        except InvalidValue as wrong:
            return self._finding("INVALID_COORDINATES", offered, f"is nowhere: {wrong}", place=list(offered.place))
        if away > self.radius + _TOLERANCE:
            what = f"is {away * 3600:.0f} arcseconds from the position that was asked for"
            return self._finding("ANOTHER_PLACE", offered, what, arcseconds=round(away * 3600, 1))
        return None

    def _product(self, identity: ProductIdentity, files: list[OfferedFile]) -> FoundProduct:
        best = sorted(files, key=lambda each: PREFERENCE.index(spectral_format(each.format)))
        first = best[0]
        kind = spectral_format(first.format)
        return FoundProduct(
            provider=self.provider,
            native_id=first.native_id,
            identity=identity.text,
            locators=tuple(dict.fromkeys(str(each.locator) for each in best))[:_MOST_LOCATORS],
            hints={**first.hints, "format": first.format, "kind": kind}
            if first.format
            else {**first.hints, "kind": kind},
            version=first.version,
            weak=identity.weak,
        )

    def _finding(self, code: str, offered: OfferedFile, what: str, **details: Any) -> Finding:
        named = f" ({offered.native_id[:200]})" if offered.native_id else ""
        message = f"row {offered.row} of {self.provider}{named} {what}; it is left out"
        return Finding(code, message, {"provider": self.provider, "row": offered.row, **details})

    def _overflow(self, found: int) -> Finding:
        read = min(found, self.most)
        message = f"{self.provider} has more than the {read} products that were read; narrow NC_SEARCH_ARCSECONDS"
        return Finding("OVERFLOW", message, {"provider": self.provider, "most": self.most})


def separation(one: SkyPlace, other: SkyPlace) -> float:
    """Degrees between two places."""
    phi, psi = radians(one.dec), radians(other.dec)
    h = sin((psi - phi) / 2) ** 2 + cos(phi) * cos(psi) * sin(radians(other.ra - one.ra) / 2) ** 2
    return degrees(2 * asin(min(1.0, sqrt(h))))


def no_position(provider: str) -> ProductSearch:
    """What is found of a nova whose place is not known."""
    message = f"{provider} is asked by position, and this nova has none; give it one"
    return ProductSearch((), (Finding("NO_POSITION", message, {"provider": provider}),), complete=False)


def _bounded(findings: list[Finding]) -> tuple[Finding, ...]:
    if len(findings) <= _MOST_FINDINGS:
        return tuple(findings)
    left = len(findings) - _MOST_FINDINGS
    more = Finding("MORE_FINDINGS", f"{left} more rows are left out for such reasons", {"count": left})
    return (*findings[:_MOST_FINDINGS], more)
