"""A folder in the form of the Open Nova Catalog: what it tells of, without a manifest.

| part | what it tells |
|---|---|
| ``names/names.min.json``, ``names/catalog.min.json`` | names, aliases, positions, and bibcodes of papers |
| ``references/*.json`` | ``bibauthors``: who wrote what; ``atels``, ``cbets``, ``iaucs``: the bibcodes of circulars |
| ``tickets/*.txt`` | which table is about which nova, and what its columns are |
| ``photometry/*.csv``, ``spectra_csv/*.csv`` | tables; one without a ticket is told by how it is called |
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from penstock.astronomy.judgement import FileFinding
from penstock.domains.novae.model import normalize_name
from penstock.domains.novae.providers.indexed_nova import (
    MOST_NOVAE,
    IndexedFile,
    IndexedNova,
    NovaIndex,
    is_within,
    read_place,
    within,
)
from penstock.domains.novae.providers.nova_manifest import read_bounded
from penstock.domains.novae.providers.paper_reading import is_bibcode, paper_date, year_of
from penstock.domains.novae.providers.provider import DiscoveryTold, Paper
from penstock.errors import Misconfigured

_CATALOGUE, _NAMES = "names/catalog.min.json", "names/names.min.json"
_CIRCULARS = {"atels": "ATel", "cbets": "CBET", "iaucs": "IAUC"}
_SOURCE = "Open Nova Catalog"
_MOST_TABLES, _LONGEST_TICKET = 20_000, 64 * 1024
_LETTER = re.compile(r"[^a-z0-9]+")


def is_open_nova_folder(folder: Path) -> bool:
    """Has it the form of the Open Nova Catalog?"""
    return any(is_within(folder, each) for each in (_CATALOGUE, _NAMES))


def stamp_of(folder: Path) -> int:
    """What changes when something is put there or taken away."""
    parts = [folder / each for each in (_CATALOGUE, _NAMES, "references", "tickets", "photometry", "spectra_csv")]
    return hash(tuple(part.stat().st_mtime_ns if part.exists() else 0 for part in parts))


def read_open_nova_folder(folder: Path) -> NovaIndex:
    """What such a folder tells of."""
    reading = _Reading(folder)
    reading.names()
    reading.catalogue()
    reading.references()
    reading.tickets()
    reading.untold()
    return reading.index.arrange()


class _Reading:
    """A folder while it is read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.index = NovaIndex()
        self._known: dict[str, IndexedNova] = {}
        self._told: set[str] = set()
        "Tables that a ticket is about."

    def names(self) -> None:
        for name, aliases in self._object(_NAMES).items():
            if isinstance(aliases, list):
                self._nova(name).aliases.extend(each for each in aliases if isinstance(each, str) and each != name)

    def catalogue(self) -> None:
        told = self._json(_CATALOGUE)
        for row in told if isinstance(told, list) else []:
            if isinstance(row, dict) and isinstance(row.get("name"), str):
                self._row(self._nova(row["name"]), row)

    def _row(self, nova: IndexedNova, row: dict[str, Any]) -> None:
        nova.aliases.extend(_values(row.get("alias")))
        nova.bibcodes.extend(each for each in str(row.get("references") or "").split(",") if is_bibcode(each))
        nova.discovered.extend(_dates(row.get("discoverdate")))
        places = set(zip(_values(row.get("ra")), _values(row.get("dec")), strict=False))
        if len(places) > 1:
            nova.tell(
                "AMBIGUOUS_POSITION", f"{len(places)} places where it is; none is taken", places=sorted(places)[:10]
            )
            return
        for ra, dec in places:
            try:
                nova.position = read_place(ra, dec)
            except ValueError as wrong:
                nova.tell("INVALID_COORDINATES", f"where it is, and {wrong}", ra=ra[:40], dec=dec[:40])

    def references(self) -> None:
        for bibcode, authors in self._object("references/bibauthors.json").items():
            if is_bibcode(bibcode):
                written = (authors.strip(),) if isinstance(authors, str) and authors.strip() else ()
                self.index.papers[bibcode] = Paper(bibcode, None, written, year_of(bibcode), source=_SOURCE)
        for name, called in _CIRCULARS.items():
            for number, bibcode in self._object(f"references/{name}.json").items():
                if isinstance(bibcode, str) and is_bibcode(bibcode):
                    known = self.index.papers.get(bibcode)
                    authors = known.authors if known else ()
                    title = f"{called} {number}"
                    self.index.papers[bibcode] = Paper(bibcode, title, authors, year_of(bibcode), source=_SOURCE)

    def tickets(self) -> None:
        for path in self._files("tickets", ".txt"):
            ticket = _ticket(path)
            name = ticket.get("OBJECT NAME")
            if not name:
                self._tell("BAD_TICKET", f"the ticket {path.name} names no object; it is left out")
                continue
            nova = self._nova(name.replace("_", " "))
            if is_bibcode(bibcode := ticket.get("BIBCODE", "")):
                nova.bibcodes.append(bibcode)
            if data := ticket.get("DATA FILENAME"):
                self._add(nova, nova.photometry, f"photometry/{data}", f"tickets/{path.name}", bibcode)
            for data in self._listed(ticket):
                self._add(nova, nova.spectra, f"spectra_csv/{data}", f"tickets/{path.name}", bibcode)

    def _listed(self, ticket: dict[str, str]) -> Iterator[str]:
        """The spectra that a ticket's own table lists, as far as it is here."""
        listing, column = ticket.get("METADATA FILENAME"), ticket.get("FILENAME COLUMN", "0")
        try:
            path = within(self._folder, f"spectra_csv/{listing}")
        except ValueError:
            return
        self._told.add(f"spectra_csv/{listing}")
        at = int(column) if column.isdigit() and len(column) < 4 else 0
        for row in csv.reader(read_bounded(path).splitlines()[:_MOST_TABLES]):
            if len(row) > at and row[at].strip() and not row[0].startswith("#"):
                yield row[at].strip()

    def _add(
        self, nova: IndexedNova, files: list[IndexedFile], path: str, ticket: str | None, bibcode: str = ""
    ) -> None:
        try:
            within(self._folder, path)
        except ValueError as wrong:
            nova.tell("NO_FILE", f"that it has a table, and {wrong}", file=path[:100])
            return
        self._told.add(path)
        files.append(IndexedFile(path, ticket=ticket, hints={"bibcode": bibcode} if bibcode else {}))

    def untold(self) -> None:
        """Tables without a ticket: theirs is the nova that they are called by."""
        squashed = {_LETTER.sub("", name): nova for name, nova in self._known.items()}
        for kind in ("photometry", "spectra_csv"):
            for path in self._files(kind, ".csv"):
                if f"{kind}/{path.name}" in self._told:
                    continue
                nova = self._called(path.stem) or _abbreviated(path.stem, squashed)
                if nova is None:
                    self._tell(
                        "WHOSE_TABLE",
                        f"the table {path.name} has no ticket, and no nova is called like it; it is left out",
                    )
                else:
                    self._add(
                        nova, nova.photometry if kind == "photometry" else nova.spectra, f"{kind}/{path.name}", None
                    )

    def _called(self, stem: str) -> IndexedNova | None:
        parts = stem.split("_")
        return self._nova(" ".join(parts[:2])) if len(parts) > 2 and len(parts[1]) == 3 else None

    def _nova(self, name: str) -> IndexedNova:
        key = normalize_name(name)
        if key not in self._known:
            if len(self._known) >= MOST_NOVAE:
                raise Misconfigured(f"{self._folder} tells of more than {MOST_NOVAE} novae")
            self._known[key] = IndexedNova(name.strip(), object_type="Nova")
            self.index.novae.append(self._known[key])
        return self._known[key]

    def _files(self, name: str, suffix: str) -> Iterator[Path]:
        there = self._folder / name
        found = sorted(each for each in there.iterdir() if each.suffix == suffix) if there.is_dir() else []
        if len(found) > _MOST_TABLES:
            self._tell("TOO_MANY_FILES", f"{name} has {len(found)} files, and {_MOST_TABLES} are read")
        return (each for each in found[:_MOST_TABLES] if is_within(self._folder, f"{name}/{each.name}"))

    def _object(self, path: str) -> dict[str, Any]:
        told = self._json(path)
        return told if isinstance(told, dict) else {}

    def _json(self, path: str) -> Any:
        if not is_within(self._folder, path):
            return None
        try:
            return json.loads(read_bounded(self._folder / path))
        except (ValueError, RecursionError) as wrong:
            raise Misconfigured(f"{self._folder / path} is no JSON: {str(wrong)[:200]}") from None

    def _tell(self, code: str, what: str) -> None:
        self.index.findings.append(FileFinding(code, what, {}))


def _values(told: Any) -> list[str]:
    listed = told if isinstance(told, list) else []
    return [str(each["value"]) for each in listed[:100] if isinstance(each, dict) and each.get("value")]


def _dates(told: Any) -> list[DiscoveryTold]:
    """Days of discovery, each with whether the catalogue has derived it; what is no date is left out."""
    found: list[DiscoveryTold] = []
    for each in told[:10] if isinstance(told, list) else []:
        if isinstance(each, dict) and isinstance(each.get("value"), str):
            with suppress(ValueError):
                found.append(DiscoveryTold(paper_date(each["value"].replace("/", "-")), bool(each.get("derived"))))
    return found


def _ticket(path: Path) -> dict[str, str]:
    """Its lines ``NAME: value``; NA is no value."""
    if path.stat().st_size > _LONGEST_TICKET:
        return {}
    lines = path.read_text("utf-8", "replace").splitlines()
    parts = (line.partition(":") for line in lines[:200])
    return {name.strip().upper(): value.strip() for name, _, value in parts if value.strip() not in ("", "NA")}


def _abbreviated(stem: str, squashed: dict[str, IndexedNova]) -> IndexedNova | None:
    """GQMUSA and V2214OPA are GQ Mus and V2214 Oph, each with a letter that counts; two that fit are none."""
    begin = stem.partition("_")[0].lower()[:-1]
    fits = {
        id(nova): nova
        for name, nova in squashed.items()
        if len(begin) > 3 and name.startswith(begin) and len(name) - len(begin) <= 1
    }
    return next(iter(fits.values())) if len(fits) == 1 else None
