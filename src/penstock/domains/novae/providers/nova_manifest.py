"""The manifest of a local index: ``manifest.json`` or ``manifest.csv``. The page on novae's providers has its form."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.astronomy.judgement import FileFinding
from penstock.domains.novae.model import normalize_name
from penstock.domains.novae.providers.indexed_nova import (
    LONGEST_MANIFEST,
    MOST_FILES,
    MOST_NOVAE,
    IndexedFile,
    IndexedNova,
    NovaIndex,
    read_place,
    safe_path,
)
from penstock.domains.novae.providers.paper_reading import is_bibcode, paper_date, read_paper
from penstock.domains.novae.providers.provider import BadPaper, DiscoveryTold
from penstock.domains.novae.providers.told_value import told_value
from penstock.errors import Misconfigured

NAMES = ("manifest.json", "manifest.csv")
_FILE_WORDS = frozenset({"file", "id", "ticket", "sha256", "md5"})
_CHECKSUMS = {"sha256": 64, "md5": 32}
_SPECTRUM, _PHOTOMETRY, _PAPER = "spectrum", "photometry", "paper"


def read_manifest(path: Path) -> NovaIndex:
    """What a manifest tells; Misconfigured if it cannot be read at all. What is wrong with a part is a finding."""
    text = read_bounded(path)
    try:
        index = _from_json(text) if path.suffix == ".json" else _from_csv(text)
    except (ValueError, RecursionError, csv.Error) as wrong:
        raise Misconfigured(f"{path} is no manifest of novae: {str(wrong)[:200]}") from None
    return index.arrange()


def read_bounded(path: Path) -> str:
    """A file of text that is not too long; Misconfigured if it is, or is none."""
    try:
        if path.stat().st_size > LONGEST_MANIFEST:
            raise Misconfigured(f"{path} has more than {LONGEST_MANIFEST} bytes")
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as wrong:
        raise Misconfigured(f"{path} cannot be read: {wrong}") from None


def _from_json(text: str) -> NovaIndex:
    told = json.loads(text)
    if not isinstance(told, dict) or not isinstance(told.get("novae", []), list):
        raise ValueError('it is an object with a list "novae"')
    if len(told.get("novae", [])) > MOST_NOVAE:
        raise ValueError(f"it tells of more than {MOST_NOVAE} novae")
    index = NovaIndex()
    for number, each in enumerate(told.get("novae", []), 1):
        _add_nova(index, each, number)
    for each in told.get("papers", []) if isinstance(told.get("papers", []), list) else []:
        _add_paper(index, each)
    return index


def _add_nova(index: NovaIndex, told: Any, number: int) -> None:
    name = told.get("name") if isinstance(told, dict) else None
    if not isinstance(name, str) or not name.strip():
        index.findings.append(
            FileFinding("NO_NAME", f"nova {number} of the manifest has no name; it is left out", {"nova": number})
        )
        return
    nova = IndexedNova(name.strip(), _texts(told.get("aliases")), object_type=_text(told.get("type")))
    _place(nova, told.get("ra"), told.get("dec"))
    _discovered(nova, told.get("discovery_date"))
    for word, files in (("spectra", nova.spectra), ("photometry", nova.photometry)):
        listed = told.get(word) or []
        for each in listed[: MOST_FILES + 1] if isinstance(listed, list) else []:
            _add_file(nova, files, {"file": each} if isinstance(each, str) else each)
    for bibcode in _texts(told.get("bibcodes")):
        _add_bibcode(nova, bibcode)
    index.novae.append(nova)


def _from_csv(text: str) -> NovaIndex:
    rows = csv.DictReader(io.StringIO(text), strict=True)
    if "name" not in (rows.fieldnames or ()):
        raise ValueError("its first line has no column called name")
    index, known = NovaIndex(), dict[str, IndexedNova]()
    for row in rows:
        told = {word: value.strip() for word, value in row.items() if word and isinstance(value, str) and value.strip()}
        if not told.get("name"):
            message = f"line {rows.line_num} of the manifest has no name; it is left out"
            index.findings.append(FileFinding("NO_NAME", message, {"line": rows.line_num}))
            continue
        nova = known.setdefault(normalize_name(told["name"]), IndexedNova(told["name"]))
        _add_row(index, nova, told)
        if len(known) > MOST_NOVAE:
            raise ValueError(f"it tells of more than {MOST_NOVAE} novae")
    index.novae.extend(known.values())
    return index


def _add_row(index: NovaIndex, nova: IndexedNova, told: Mapping[str, str]) -> None:
    nova.aliases.extend(alias.strip() for alias in told.get("aliases", "").split("|") if alias.strip())
    nova.object_type = nova.object_type or told.get("type")
    if nova.position is None:
        _place(nova, told.get("ra"), told.get("dec"))
    kind = told.get("kind", "").lower()
    files = {_SPECTRUM: nova.spectra, _PHOTOMETRY: nova.photometry}
    extra = {
        word: value for word, value in told.items() if word not in ("name", "aliases", "type", "ra", "dec", "kind")
    }
    if kind in files:
        _add_file(nova, files[kind], {word: value for word, value in extra.items() if word != "bibcode"})
    elif kind == _PAPER:
        _add_paper(index, extra)
    elif kind:
        nova.tell("UNKNOWN_KIND", f"that something is of kind {kind[:40]!r}; write spectrum, photometry or paper")
    if "bibcode" in told:
        _add_bibcode(nova, told["bibcode"])


def _place(nova: IndexedNova, ra: Any, dec: Any) -> None:
    try:
        nova.position = read_place(ra, dec)
    except ValueError as wrong:
        nova.tell("INVALID_COORDINATES", f"where it is, and {wrong}", ra=told_value(ra), dec=told_value(dec))


def _discovered(nova: IndexedNova, told: Any) -> None:
    if told is None:
        return
    try:
        nova.discovered.append(DiscoveryTold(paper_date(told if isinstance(told, str) else "")))
    except ValueError:
        nova.tell("BAD_DATE", f"when it was discovered: {told_value(told)}, which is no date; write YYYY-MM-DD")


def _add_file(nova: IndexedNova, files: list[IndexedFile], told: Any) -> None:
    row = told if isinstance(told, dict) else {}
    if len(files) >= MOST_FILES:
        if all(each.code != "TOO_MANY_FILES" for each in nova.findings):
            nova.tell("TOO_MANY_FILES", f"that it has more than {MOST_FILES} files of a kind; the others are left out")
        return
    try:
        path = safe_path(row.get("file"))
        ticket = safe_path(row["ticket"]) if row.get("ticket") else None
        checksum = _checksum(row)
    except ValueError as wrong:
        nova.tell("BAD_FILE", f"that it has a file, and {wrong}", file=told_value(row.get("file")))
        return
    hints = {word: value for word, value in list(row.items())[:50] if word not in _FILE_WORDS and _is_plain(value)}
    files.append(IndexedFile(path, _text(row.get("id")), ticket, checksum, hints))


def _is_plain(value: Any) -> bool:
    """Can every store keep it?"""
    return len(value) <= 1000 if isinstance(value, str) else isinstance(value, int | float) and abs(value) < 1e30


def _checksum(row: Mapping[str, Any]) -> str | None:
    for kind, length in _CHECKSUMS.items():
        if told := row.get(kind):
            text = told.lower() if isinstance(told, str) else told_value(told)
            if len(text) != length or set(text) - set("0123456789abcdef"):
                raise ValueError(f"{kind}={text[:80]!r} is no such checksum: it has {length} digits from 0 to f")
            return f"{kind}:{text}"
    return None


def _add_bibcode(nova: IndexedNova, bibcode: str) -> None:
    if is_bibcode(bibcode):
        nova.bibcodes.append(bibcode)
    else:
        nova.tell("BAD_BIBCODE", f"that a paper has the bibcode {bibcode[:40]!r}, which is none")


def _add_paper(index: NovaIndex, told: Any) -> None:
    read = read_paper(told, source="manifest")
    if isinstance(read, BadPaper):
        index.findings.append(read.finding)
    else:
        index.papers[read.reference_id] = read


def _text(told: Any) -> str | None:
    return told.strip()[:500] or None if isinstance(told, str) else None


def _texts(told: Any) -> list[str]:
    return (
        [each.strip()[:500] for each in told[:1000] if isinstance(each, str) and each.strip()]
        if isinstance(told, list)
        else []
    )
