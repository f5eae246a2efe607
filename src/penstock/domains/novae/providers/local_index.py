"""A local index: a folder that says which novae it knows, and has their files. Nothing outside of it is ever read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from penstock.astronomy.judgement import FileFinding
from penstock.domains.novae.providers.indexed_nova import IndexedFile, IndexedNova, NovaIndex, within
from penstock.domains.novae.providers.nova_manifest import NAMES, read_manifest
from penstock.domains.novae.providers.object_kinds import kind_of_object
from penstock.domains.novae.providers.open_nova_folder import is_open_nova_folder, read_open_nova_folder, stamp_of
from penstock.domains.novae.providers.paper_reading import year_of
from penstock.domains.novae.providers.product_identity import product_identity
from penstock.domains.novae.providers.provider import (
    BadPaper,
    FoundProduct,
    NovaQuery,
    Paper,
    ProductSearch,
    Resolution,
    ResolvedObject,
)
from penstock.errors import Misconfigured

LOCAL = "local:"
"What the locator of a file in a local index begins with."


@dataclass(frozen=True, slots=True)
class LocalIndex:
    """A folder with a manifest, or in the form of the Open Nova Catalog; it is read anew when that has changed."""

    name: str
    folder: Path
    _read: dict[tuple[int, int], NovaIndex] = field(default_factory=dict, init=False, repr=False, compare=False)

    def index(self) -> NovaIndex:
        """All that the folder tells; Misconfigured if it tells nothing that can be read."""
        source, stamp = self._source()
        if (read := self._read.get(stamp)) is None:
            read = read_manifest(source) if source.is_file() else read_open_nova_folder(source)
            self._read.clear()
            self._read[stamp] = read
        return read

    def products(self, nova: NovaQuery) -> ProductSearch:
        """The spectra in the folder, of whichever nova it calls by one of these names."""
        return self._search(nova, spectra=True)

    def photometry(self, nova: NovaQuery) -> ProductSearch:
        """The photometry in the folder."""
        return self._search(nova, spectra=False)

    def resolve(self, name: str) -> Resolution:
        """The novae that the folder calls so."""
        found = self.index().called([name])
        findings = tuple(each for nova in found for each in nova.findings)
        return Resolution(tuple(map(self._object, found)), findings)

    def papers(self, names: Sequence[str] = (), bibcodes: Sequence[str] = ()) -> Iterator[Paper | BadPaper]:
        """Papers that the folder knows by their bibcodes, or as being about these novae."""
        index = self.index()
        about = {bibcode for nova in index.called(names) for bibcode in nova.bibcodes}
        for bibcode in dict.fromkeys((*sorted(about), *bibcodes)):
            if bibcode in index.papers:
                yield index.papers[bibcode]
            elif bibcode in about:
                yield Paper(bibcode, date=year_of(bibcode), source=self.name)

    def file(self, locator: str) -> Path:
        """The file that a locator of this index means; ValueError if there is none within the folder."""
        return within(self.folder, locator.removeprefix(LOCAL))

    def _search(self, nova: NovaQuery, *, spectra: bool) -> ProductSearch:
        products: dict[str, FoundProduct] = {}
        findings: list[FileFinding] = []
        for known in self.index().called(nova.names):
            findings.extend(known.findings)
            for each in known.spectra if spectra else known.photometry:
                try:
                    found = self._product(each, known)
                    products.setdefault(found.identity, found)
                except ValueError as wrong:
                    told = f"the local index {self.name} tells of a file, and {wrong}"
                    findings.append(FileFinding("BAD_FILE", told, {"provider": self.name, "file": each.path[:100]}))
        return ProductSearch(tuple(products.values()), tuple(findings))

    def _product(self, each: IndexedFile, nova: IndexedNova) -> FoundProduct:
        there = within(self.folder, each.path).stat()
        hints = {**each.hints, "target": nova.name, "size": there.st_size}
        if each.ticket is not None:
            within(self.folder, each.ticket)
            hints["ticket"] = f"{LOCAL}{each.ticket}"
        locators = (f"{LOCAL}{each.path}",)
        identity = product_identity(native_id=each.native_id, locators=locators)
        assert identity is not None  # it has a locator
        version = None if each.checksum else str(there.st_mtime_ns)
        return FoundProduct(self.name, each.native_id, identity.text, locators, hints, version, each.checksum)

    def _object(self, nova: IndexedNova) -> ResolvedObject:
        aliases = tuple(alias for alias in nova.names if alias != nova.name)
        kind = kind_of_object(nova.object_type)
        return ResolvedObject(
            nova.name, aliases, nova.position, nova.object_type, kind, self.name, tuple(nova.discovered)
        )

    def _source(self) -> tuple[Path, tuple[int, int]]:
        """What tells of the folder, and what changes when that does."""
        for name in NAMES:
            try:
                there = within(self.folder, name)
            except ValueError:
                continue
            return there, (there.stat().st_mtime_ns, there.stat().st_size)
        if not is_open_nova_folder(self.folder):
            raise Misconfigured(
                f"{self.folder} is no local index: it has neither {' nor '.join(NAMES)}, nor names/names.min.json"
            )
        return self.folder, (stamp_of(self.folder), 0)
