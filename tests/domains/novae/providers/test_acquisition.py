"""Products are brought whole, known by their fingerprints, and unpacked; what is wrong with them is told."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.domains.novae.providers.acquisition import AcquiredProduct, Acquisition
from penstock.domains.novae.providers.file_contents import FileContent
from penstock.domains.novae.providers.local_index import LocalIndex
from penstock.domains.novae.providers.provider import FoundProduct, NovaQuery, UnusableAnswer
from penstock.errors import Unanswered, Unavailable
from penstock.generation.provider_http import ProviderService, Unknown
from penstock.net.url import read_url
from penstock.work.errors import RetryLater, Terminal
from tests.domains.novae.providers.archive_server import (
    ArchiveServer,
    answers,
    cut_off,
    file,
    floods,
    overstates,
    page,
    redirects,
    stays_silent,
    votable,
)
from tests.domains.novae.providers.made_votables import links_table
from tests.domains.novae.providers.made_zips import fits, zipped

BODY = fits("a spectrum", blocks=40)
SUM = hashlib.sha256(BODY).hexdigest()
Acquire = Callable[..., AcquiredProduct]


def _product(*locators: str, **more: Any) -> FoundProduct:
    return FoundProduct("eso", "7", "id:7", locators, **more)


@pytest.fixture
def acquire(archive: ArchiveServer, service_of: Callable[..., ProviderService], tmp_path: Path) -> Acquire:
    def ask(product: FoundProduct | None = None, *, seconds: float = 10, member: str | None = None, **more: Any) -> Any:
        services = {"eso": service_of(archive, seconds=seconds)}
        trusted = frozenset({read_url(archive.url()).origin})
        acquisition = Acquisition(services, trusted=trusted, **more)
        return acquisition.acquire(product or _product(archive.url("/7.fits")), tmp_path / "work", member=member)

    return ask


def test_a_file_is_known_by_its_fingerprints_as_it_comes(archive: ArchiveServer, acquire: Acquire) -> None:
    """NC-26: byte_length, etag and sha256 are there to be stored."""
    archive.will(file(BODY, etag='"abc"', Content_Type="application/fits"))
    came = acquire()
    assert (came.byte_length, came.sha256, came.etag) == (len(BODY), SUM, '"abc"')
    assert (came.content, came.content_type) == (FileContent.FITS, "application/fits")
    assert came.primary == came.file
    assert came.primary.read_bytes() == BODY
    assert (came.primary_sha256, came.primary_length) == (SUM, len(BODY))


def test_a_download_that_breaks_off_goes_on_where_it_ended(archive: ArchiveServer, acquire: Acquire) -> None:
    archive.will(cut_off(BODY, ETag='"one"'), file(BODY))
    came = acquire()
    assert (came.sha256, came.byte_length) == (SUM, len(BODY))
    first, second = archive.asked
    assert "Range" not in first.headers
    assert second.headers["Range"] == f"bytes={len(BODY) // 2}-"
    assert second.headers["If-Range"] == '"one"'


def test_a_file_that_changes_in_the_middle_is_never_put_together_of_two(
    archive: ArchiveServer, acquire: Acquire
) -> None:
    other = fits("another", blocks=50)
    archive.will(cut_off(BODY, ETag='"one"'), file(other, etag='"two"'))
    came = acquire()
    assert came.sha256 == hashlib.sha256(other).hexdigest()
    assert came.etag == '"two"'
    assert came.primary.read_bytes() == other


@pytest.mark.parametrize("etag", [None, 'W/"weak"'])
def test_without_a_strong_etag_it_begins_anew(archive: ArchiveServer, acquire: Acquire, etag: str | None) -> None:
    archive.will(cut_off(BODY, ETag=etag) if etag else cut_off(BODY), file(BODY, etag=etag))
    assert acquire().sha256 == SUM
    assert "Range" not in archive.asked[1].headers


def test_a_server_that_ignores_ranges_sends_all_of_it_once(archive: ArchiveServer, acquire: Acquire) -> None:
    archive.will(cut_off(BODY, ETag='"one"'), file(BODY, ranges=False))
    assert acquire().sha256 == SUM


def test_a_server_that_sends_another_part_is_not_believed(archive: ArchiveServer, acquire: Acquire) -> None:
    wrong = answers(206, BODY[:100], Content_Range=f"bytes 0-99/{len(BODY)}", ETag='"one"')
    archive.will(cut_off(BODY, ETag='"one"'), wrong, file(BODY))
    assert acquire().sha256 == SUM


def test_a_length_that_is_wrong_is_no_file(archive: ArchiveServer, acquire: Acquire) -> None:
    archive.usual = overstates(BODY)
    with pytest.raises(Unanswered):
        acquire()
    assert len(archive.asked) == 4


def test_failures_of_its_own_are_tried_again_at_once_and_then_left_to_the_task(
    archive: ArchiveServer, acquire: Acquire
) -> None:
    archive.will(answers(500), answers(500), file(BODY))
    assert acquire().sha256 == SUM
    archive.usual = answers(502)
    with pytest.raises(Unavailable):
        acquire()


def test_who_is_asked_too_often_is_asked_later(archive: ArchiveServer, acquire: Acquire) -> None:
    archive.will(answers(429, Retry_After="60"))
    with pytest.raises(RetryLater) as raised:
        acquire()
    assert raised.value.after == timedelta(seconds=60)
    assert len(archive.asked) == 1


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_of_a_file_is_final(archive: ArchiveServer, acquire: Acquire, status: int) -> None:
    archive.will(answers(status))
    with pytest.raises(Terminal):
        acquire()


def test_a_locator_that_is_gone_leaves_the_next(archive: ArchiveServer, acquire: Acquire) -> None:
    archive.will(answers(404), file(BODY))
    came = acquire(_product(archive.url("/old.fits"), archive.url("/new.fits")))
    assert came.locator == archive.url("/new.fits")


def test_a_file_over_the_limit_is_refused(archive: ArchiveServer, acquire: Acquire) -> None:
    archive.will(file(BODY))
    with pytest.raises(Terminal, match="at most 1000"):
        acquire(most=1000)
    archive.will(floods)
    with pytest.raises(Terminal, match="at most 1000"):
        acquire(most=1000)


def test_a_file_that_takes_too_long_is_let_go(archive: ArchiveServer, acquire: Acquire) -> None:
    archive.usual = stays_silent
    with pytest.raises(Unanswered):
        acquire(longest=timedelta(seconds=0.3))
    assert len(archive.asked) == 1  # its time is over; no other try


@pytest.mark.parametrize("to", ["https://127.0.0.1/x", "https://10.1.2.3/x", "http://127.0.0.2:8080/x"])
def test_no_file_is_fetched_from_a_private_address(archive: ArchiveServer, acquire: Acquire, to: str) -> None:
    archive.will(redirects(to))
    with pytest.raises(Terminal):
        acquire()
    with pytest.raises(Terminal):
        acquire(_product(to))
    assert len(archive.asked) == 1


def test_what_is_named_without_tls_is_asked_for_with_it(archive: ArchiveServer, acquire: Acquire) -> None:
    """Else every archive that writes http out of habit would be refused."""
    with pytest.raises(Terminal, match="not public"):  # it is refused for its address, and no more for its scheme
        acquire(_product("http://10.1.2.3/x.fits"))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"<!DOCTYPE html><html>404, sorry</html>", "PAGE_INSTEAD_OF_FILE"),
        (b"\xef\xbb\xbf\n <HTML><head>", "PAGE_INSTEAD_OF_FILE"),
        (b"   \n", "EMPTY_FILE"),
        (b'{"error": "no such file"}', "NOT_A_SPECTRUM_FILE"),
        (b"<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>", "NOT_A_SPECTRUM_FILE"),
        (b"\x89PNG\r\n\x1a\n\0\0", "NOT_A_SPECTRUM_FILE"),
        (b"BZh91AY", "UNKNOWN_PACKING"),
        (gzip.compress(b"\0" * 600, mtime=0), "UNKNOWN_PACKING"),
        (gzip.compress(fits(blocks=3), mtime=0)[:-20], "DAMAGED_FILE"),
    ],
)
def test_what_is_no_spectrum_under_whatever_name_is_found_out(
    archive: ArchiveServer, acquire: Acquire, body: bytes, code: str
) -> None:
    archive.will(file(body, Content_Type="application/fits"))
    with pytest.raises(UnusableAnswer) as raised:
        acquire()
    assert raised.value.code == code


def test_a_page_that_is_sent_as_one_is_found_out_too(archive: ArchiveServer, acquire: Acquire) -> None:
    archive.will(page)
    with pytest.raises(UnusableAnswer) as raised:
        acquire()
    assert raised.value.code == "PAGE_INSTEAD_OF_FILE"


def test_what_gzip_has_packed_is_unpacked_as_far_as_it_is_taken(archive: ArchiveServer, acquire: Acquire) -> None:
    packed = gzip.compress(BODY)
    archive.will(file(packed), file(packed))
    came = acquire()
    assert came.content is FileContent.GZIPPED_FITS
    assert came.sha256 == hashlib.sha256(packed).hexdigest()
    assert (came.primary_sha256, came.primary.name) == (SUM, "primary.fits")
    from penstock.domains.novae.providers.zip_archive import ZipLimits

    with pytest.raises(UnusableAnswer) as raised:
        acquire(zip_limits=ZipLimits(bytes=3000))
    assert raised.value.code == "UNPACKS_TO_TOO_MUCH"


@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_bytes_that_are_others_than_the_provider_says_wait_for_a_person(
    archive: ArchiveServer, acquire: Acquire, kind: str
) -> None:
    archive.usual = file(BODY)
    right = hashlib.new(kind, BODY).hexdigest()
    assert acquire(_product(archive.url("/7"), checksum=f"{kind}:{right.upper()}")).sha256 == SUM
    with pytest.raises(UnusableAnswer) as raised:
        acquire(_product(archive.url("/7"), checksum=f"{kind}:{right[::-1]}"))
    assert raised.value.code == "CHECKSUM_MISMATCH"
    assert raised.value.finding.details["found"] == right


# Published again


@pytest.fixture
def changed(archive: ArchiveServer, service_of: Callable[..., ProviderService]) -> Callable[..., bool | None]:
    trusted = frozenset({read_url(archive.url()).origin})
    acquisition = Acquisition({"eso": service_of(archive)}, trusted=trusted)
    return lambda **known: acquisition.changed(_product(archive.url("/7.fits")), **known)


def test_other_bytes_under_the_same_identity_are_noticed_without_fetching_them(
    archive: ArchiveServer, changed: Callable[..., bool | None]
) -> None:
    archive.usual = file(BODY, etag='"two"')
    assert changed(etag='"two"', byte_length=len(BODY)) is False
    assert changed(etag='W/"two"', byte_length=len(BODY)) is False
    assert changed(etag='"one"', byte_length=len(BODY)) is True
    assert changed(etag=None, byte_length=len(BODY) - 1) is True
    assert changed(etag=None, byte_length=len(BODY)) is None  # as long, and who knows
    assert archive.asked[0].headers["If-None-Match"] == '"two"'


def test_a_product_that_is_gone_is_not_taken_for_a_new_one(
    archive: ArchiveServer, changed: Callable[..., bool | None]
) -> None:
    archive.will(answers(410), answers(500))
    with pytest.raises(Unknown):
        changed(etag='"one"', byte_length=7)
    with pytest.raises(Unavailable):
        changed(etag='"one"', byte_length=7)


# Archives


def test_the_only_fits_of_an_archive_is_meant(archive: ArchiveServer, acquire: Acquire) -> None:
    archive.will(file(zipped({"README.txt": b"hello\n", "d/spec.fits": BODY, "plot.csv": b"1,2\n"})))
    came = acquire()
    assert (came.content, came.primary_member) == (FileContent.ZIP, "d/spec.fits")
    assert (came.primary_sha256, came.primary_length) == (SUM, len(BODY))
    assert [each.name for each in came.members] == ["README.txt", "d/spec.fits", "plot.csv"]


def test_packed_fits_within_an_archive_is_unpacked_too(archive: ArchiveServer, acquire: Acquire) -> None:
    archive.will(file(zipped({"spec.fits.gz": gzip.compress(BODY)})))
    assert acquire().primary_sha256 == SUM


def test_of_several_fits_the_hint_says_which_is_meant(archive: ArchiveServer, acquire: Acquire, tmp_path: Path) -> None:
    archive.usual = file(zipped({"a.fits": fits("a"), "d/b.fits": BODY}))
    with pytest.raises(UnusableAnswer) as raised:
        acquire()
    assert raised.value.code == "SEVERAL_FITS_IN_ARCHIVE"
    assert raised.value.finding.details["names"] == ["a.fits", "d/b.fits"]
    for number, name in enumerate(("d/b.fits", "b.fits")):
        (tmp_path / "work").rename(tmp_path / f"before{number}")
        assert acquire(member=name).primary_sha256 == SUM
    (tmp_path / "work").rename(tmp_path / "before")
    with pytest.raises(UnusableAnswer) as raised:
        acquire(member="c.fits")
    assert raised.value.code == "NO_SUCH_MEMBER"


def test_an_archive_without_fits_waits_for_a_person(archive: ArchiveServer, acquire: Acquire) -> None:
    archive.will(file(zipped({"a.txt": b"hello\n", "b.txt": b"1 2\n"})))
    with pytest.raises(UnusableAnswer) as raised:
        acquire()
    assert raised.value.code == "NO_FITS_IN_ARCHIVE"


# Links


def test_a_list_of_links_leads_to_the_file_itself(archive: ArchiveServer, acquire: Acquire) -> None:
    links = links_table(
        ("#preview", archive.url("/7.png"), "image/png"), ("#this", archive.url("/real.fits"), "application/fits")
    )
    archive.will(votable(links), file(BODY))
    assert acquire(_product(archive.url("/links?ID=7"), hints={"kind": "datalink"})).sha256 == SUM
    assert [asked.path for asked in archive.asked] == ["/links?ID=7", "/real.fits"]


def test_links_that_do_not_tell_which_wait_for_a_person(archive: ArchiveServer, acquire: Acquire) -> None:
    for links in ((), (("#this", "https://a/1", "application/fits"), ("#this", "https://a/2", "application/fits"))):
        archive.will(votable(links_table(*links)))
        with pytest.raises(UnusableAnswer) as raised:
            acquire(_product(archive.url("/links"), hints={"kind": "datalink"}))
        assert raised.value.code == "LINKS_UNCLEAR"


# At hand


@pytest.fixture
def local(tmp_path: Path) -> LocalIndex:
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / "a.fits").write_bytes(BODY)
    manifest = {"novae": [{"name": "V1324 Sco", "spectra": [{"file": "a.fits", "sha256": SUM}]}]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return LocalIndex("mine", folder)


def test_a_file_of_a_local_index_is_copied_with_its_fingerprints(local: LocalIndex, tmp_path: Path) -> None:
    (product,) = local.products(NovaQuery(("V1324 Sco",)))
    came = Acquisition(locals={"mine": local}).acquire(product, tmp_path / "work")
    assert (came.sha256, came.byte_length, came.etag) == (SUM, len(BODY), None)
    assert came.file.parent == tmp_path / "work"
    acquisition = Acquisition(locals={"mine": local})
    assert acquisition.changed(product, etag=None, byte_length=len(BODY)) is None
    (local.folder / "a.fits").write_bytes(BODY + b" ")
    assert acquisition.changed(product, etag=None, byte_length=len(BODY)) is True
    with pytest.raises(UnusableAnswer, match="provider says"):
        Acquisition(locals={"mine": local}).acquire(product, tmp_path / "again")
    with pytest.raises(Terminal, match="at most"):
        Acquisition(locals={"mine": local}, most=10).acquire(product, tmp_path / "third")


def test_a_locator_cannot_leave_a_local_index(local: LocalIndex, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("not yours")
    for path in ("../secret", "/etc/passwd", "nothing.fits"):
        with pytest.raises(Unknown):
            Acquisition(locals={"mine": local}).acquire(
                FoundProduct("mine", None, "x", (f"local:{path}",)), tmp_path / "work"
            )


def test_a_provider_that_is_no_more_is_told(tmp_path: Path) -> None:
    for locator in ("local:a.fits", "https://archive.example/a.fits"):
        with pytest.raises(Terminal, match="NC_PROVIDERS"):
            Acquisition().acquire(FoundProduct("gone", None, "x", (locator,)), tmp_path / "work")
    with pytest.raises(Terminal, match="no place"):
        Acquisition().acquire(FoundProduct("gone", None, "x", ()), tmp_path / "work")
