"""Bringing a product here: whole, within its limits, known by its fingerprints, and unpacked; or not at all.

A download that breaks off is gone on with where it ended, within the attempt, if a strong ETag tells that the file is
still the same. The next attempt begins anew: its worker may be another machine, and a file is small beside the doubt.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from penstock.astronomy.judgement import Finding
from penstock.domains.novae.providers.file_contents import FileContent, content_of
from penstock.domains.novae.providers.local_index import LOCAL, LocalIndex
from penstock.domains.novae.providers.provider import FoundProduct, UnusableAnswer
from penstock.domains.novae.providers.spectral_formats import LINKS
from penstock.domains.novae.providers.zip_archive import USUAL_ZIP, ZipLimits, ZipMember, unpack
from penstock.generation.download import Downloaded, download
from penstock.generation.provider_http import ProviderService, Response, Unknown
from penstock.net.url import read_url
from penstock.work.errors import Terminal

LONGEST_PRODUCT = 512 * 1024 * 1024
LONGEST_WAIT = timedelta(minutes=15)
_PIECE = 1024 * 1024
_USABLE = frozenset({FileContent.FITS, FileContent.VOTABLE, FileContent.TEXT})
_WHY_NOT = {
    FileContent.PAGE: ("PAGE_INSTEAD_OF_FILE", "is a page for people, such as an error or a login, and no spectrum"),
    FileContent.EMPTY: ("EMPTY_FILE", "is empty"),
    FileContent.PACKED: ("UNKNOWN_PACKING", "is packed, or archived, in a way that is not unpacked here"),
    FileContent.OTHER: ("NOT_A_SPECTRUM_FILE", "is neither FITS, nor a VOTable, nor text"),
}


@dataclass(frozen=True, slots=True)
class AcquiredProduct:
    """A product that is here."""

    file: Path
    "As it came."
    byte_length: int
    sha256: str
    etag: str | None
    content_type: str | None
    content: FileContent
    locator: str
    primary: Path
    "The file to read: itself, what gzip had packed, or a member of the archive."
    primary_length: int
    primary_sha256: str
    primary_member: str | None = None
    "What the archive calls it."
    members: tuple[ZipMember, ...] = ()


@dataclass(frozen=True, slots=True)
class Acquisition:
    """Brings products of every provider."""

    services: Mapping[str, ProviderService] = field(default_factory=dict)
    "By the names of their providers."
    locals: Mapping[str, LocalIndex] = field(default_factory=dict)
    trusted: frozenset[tuple[str, str, int]] = frozenset()
    "Origins that may be spoken to without TLS."
    most: int = LONGEST_PRODUCT
    longest: timedelta = LONGEST_WAIT
    zip_limits: ZipLimits = USUAL_ZIP

    def acquire(
        self,
        product: FoundProduct,
        folder: Path,
        *,
        member: str | None = None,
        tell: Callable[[float], None] = lambda fraction: None,
    ) -> AcquiredProduct:
        """A product, brought into an empty folder.

        Its locators are tried in turn while those before are gone. ``member`` names the file that is meant of an
        archive with several. UnusableAnswer tells what is wrong with what came; Terminal that nothing ever will.
        """
        folder.mkdir(parents=True, exist_ok=True)
        arrived = folder / "arrived"
        came, locator = self._fetched(product, arrived, tell)
        check_checksum(arrived, came.sha256, product.checksum)
        content = content_of(arrived)
        if content is FileContent.ZIP:
            members = unpack(arrived, folder / "unzipped", limits=self.zip_limits)
            chosen = primary_member(members, member or _hint(product))
            primary, name = chosen.path, chosen.name
        else:
            members, primary, name = [], arrived, None
        primary, length, digest = self._readable(primary, folder, name)
        kept = (came.byte_length, came.sha256, came.etag, came.content_type, content, locator)
        return AcquiredProduct(arrived, *kept, primary, length, digest, name, tuple(members))

    def changed(self, product: FoundProduct, *, etag: str | None, byte_length: int | None) -> bool | None:
        """Has it other bytes by now than those known by these? None if nobody says; none of them are fetched."""
        if not product.locators:
            return None
        locator = product.locators[0]
        if locator.startswith(LOCAL):
            return self._local(product.provider, locator).stat().st_size != byte_length or None
        service = self._service(product.provider)
        asked = {"If-None-Match": etag} if etag else {}
        with service.open(self._url(service, product, locator), asked, longest=self.longest) as response:
            if response.status == 304:
                return False
            if response.status != 200:
                raise service.refusal(response, b"")
            return _differs(response, etag, byte_length)

    def _fetched(self, product: FoundProduct, into: Path, tell: Callable[[float], None]) -> tuple[Downloaded, str]:
        if not product.locators:
            raise Terminal(f"{product.provider} says of no place where {product.identity[:200]} can be had")
        gone: Unknown | None = None
        for locator in product.locators:
            try:
                return self._from(product, locator, into, tell), locator
            except Unknown as unknown:
                gone = unknown
        assert gone is not None  # there is a locator, and it was tried
        raise gone

    def _from(self, product: FoundProduct, locator: str, into: Path, tell: Callable[[float], None]) -> Downloaded:
        if locator.startswith(LOCAL):
            return self._copied(product.provider, locator, into)
        service = self._service(product.provider)
        url = self._url(service, product, locator)
        return download(service, url, into, most=self.most, longest=self.longest, tell=tell)

    def _service(self, provider: str) -> ProviderService:
        service = self.services.get(provider)
        if service is None:
            raise Terminal(f"no provider is called {provider!r} any more; add it to NC_PROVIDERS")
        return service

    def _url(self, service: ProviderService, product: FoundProduct, locator: str) -> str:
        url = self._over_tls(locator)
        if product.hints.get("kind") == LINKS and locator == product.locators[0]:
            from penstock.domains.novae.providers.datalink import linked_file

            url = self._over_tls(linked_file(service, url))
        return url

    def _over_tls(self, url: str) -> str:
        """Archives write http out of habit; what the operator has not configured is asked for over TLS."""
        try:
            there = read_url(url)
        except ValueError as wrong:
            raise Terminal(f"the product has a URL that {wrong}") from None
        usual = not there.is_secure and there.port == 80 and there.origin not in self.trusted
        return f"https://{there.host}{there.target}" if usual else url

    def _copied(self, provider: str, locator: str, into: Path) -> Downloaded:
        there = self._local(provider, locator)
        if (size := there.stat().st_size) > self.most:
            raise Terminal(f"the file has {size} bytes; at most {self.most} are taken")
        with there.open("rb") as source, into.open("wb") as file:
            shutil.copyfileobj(source, file, _PIECE)
        digest, length = _digest(into)
        return Downloaded(length, digest, None, None, None)

    def _local(self, provider: str, locator: str) -> Path:
        index = self.locals.get(provider)
        if index is None:
            raise Terminal(f"no local index is called {provider!r} any more; add it to NC_PROVIDERS")
        try:
            return index.file(locator)
        except ValueError as wrong:
            raise Unknown(f"the local index {provider}: {wrong}") from None

    def _readable(self, path: Path, folder: Path, member: str | None) -> tuple[Path, int, str]:
        """The file to read, with its length and fingerprint."""
        content = content_of(path)
        if content is FileContent.GZIPPED_FITS:
            path = _unpacked(path, folder / "primary.fits", self.zip_limits.bytes)
        elif content not in _USABLE:
            code, what = _WHY_NOT.get(content, _WHY_NOT[FileContent.OTHER])
            raise _unfit(code, f"the file {member or ''} {what}".replace("  ", " "), member=member)
        digest, length = _digest(path)
        return path, length, digest


def _differs(response: Response, etag: str | None, byte_length: int | None) -> bool | None:
    told = response.headers.get("etag")
    if etag and told:
        return told.removeprefix("W/") != etag.removeprefix("W/")
    if response.length is not None and byte_length is not None and response.length != byte_length:
        return True
    return None


def primary_member(members: Iterable[ZipMember], hint: str | None) -> ZipMember:
    """The member that is meant: the one that the hint names, else the only FITS file, else the only file."""
    files = list(members)
    fits = [each for each in files if each.content in (FileContent.FITS, FileContent.GZIPPED_FITS)]
    if hint:
        named = [each for each in files if hint in (each.name, each.name.rpartition("/")[2])]
        if len(named) == 1:
            return named[0]
        raise _unfit(
            "NO_SUCH_MEMBER", f"the archive has {len(named)} members called {hint[:100]!r}", names=_names(files)
        )
    if len(fits) == 1 or len(files) == 1:
        return (fits or files)[0]
    if not fits:
        raise _unfit(
            "NO_FITS_IN_ARCHIVE", f"none of the {len(files)} members of the archive is FITS", names=_names(files)
        )
    what = (
        f"the archive has {len(fits)} FITS files, and nothing says which is meant; clear it with the hint member=NAME"
    )
    raise _unfit("SEVERAL_FITS_IN_ARCHIVE", what, names=_names(fits))


def check_checksum(path: Path, sha256: str, told: str | None) -> None:
    """UnusableAnswer if the provider says that the bytes are others."""
    kind, _, wanted = (told or "").partition(":")
    if not wanted:
        return
    found = sha256 if kind == "sha256" else _digest(path, kind)[0] if kind == "md5" else None
    if found is not None and found != wanted.lower():
        what = (
            f"the file has the {kind} {found}, and its provider says {wanted[:80]}; fetch it again later, or reject it"
        )
        raise _unfit("CHECKSUM_MISMATCH", what, told=told, found=found)


def _digest(path: Path, kind: str = "sha256") -> tuple[str, int]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()
        return digest, file.tell()


def _unpacked(path: Path, into: Path, most: int) -> Path:
    """What gzip has packed, as far as it is taken."""
    try:
        with gzip.open(path) as packed, into.open("wb") as file:
            while piece := packed.read(_PIECE):
                file.write(piece)
                if file.tell() > most:
                    raise _unfit("UNPACKS_TO_TOO_MUCH", f"the file unpacks to more than {most} bytes", most=most)
    except (gzip.BadGzipFile, EOFError, zlib.error) as wrong:
        raise _unfit("DAMAGED_FILE", f"the file is packed by gzip and cannot be unpacked: {str(wrong)[:100]}") from None
    return into


def _hint(product: FoundProduct) -> str | None:
    told = product.hints.get("member")
    return told if isinstance(told, str) else None


def _names(members: list[ZipMember]) -> list[str]:
    return [each.name for each in members[:50]]


def _unfit(code: str, what: str, **details: Any) -> UnusableAnswer:
    return UnusableAnswer(Finding(code, what, details))
