"""Archives of the Virtual Observatory, asked through pyvo: what they have, and what becomes of all they do wrong."""

from __future__ import annotations

import json
import random
import socket
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from penstock.domains.novae.providers.answer_screen import VotableLimits, screen
from penstock.domains.novae.providers.found_spectra import Offers
from penstock.domains.novae.providers.obscore import ObsCoreProvider
from penstock.domains.novae.providers.provider import NovaQuery, SkyPlace, UnusableAnswer
from penstock.domains.novae.providers.ssa import SsaProvider
from penstock.errors import Unanswered, Unavailable
from penstock.generation.provider_http import ProviderService
from penstock.work.errors import RetryLater, Terminal
from tests.domains.novae.providers.archive_server import (
    ArchiveServer,
    Behaviour,
    answers,
    cut_off,
    floods,
    overstates,
    page,
    redirects,
    stays_silent,
    votable,
)
from tests.domains.novae.providers.made_votables import obscore_table, ssa_table

HERE = SkyPlace(267.72, -32.62)
NOVA = NovaQuery(("V1324 Sco",), HERE)
ROW = {
    "AcRef": "https://archive.example/get?id=7&token=abc",
    "Format": "application/fits",
    "PubDID": "ivo://example/7",
    "Title": "V1324 Sco, day 12",
    "Instrument": "UVES",
    "Version": "1.2",
    "Pos": "267.7201 -32.6201",
    "MJD": "56091.25",
    "Start": "3.2e-7",
    "Stop": "9.9e-7",
}
OBS = {
    "obs_publisher_did": "ivo://example/obs?1",
    "access_url": "https://archive.example/1.fits",
    "access_format": "application/fits",
    "access_estsize": "120",
    "s_ra": "267.7201",
    "s_dec": "-32.6201",
    "t_min": "56091.25",
    "em_min": "3.2e-7",
    "em_max": "9.9e-7",
    "facility_name": "VLT",
    "instrument_name": "UVES",
}
Ask = Callable[..., Any]


@pytest.fixture
def ssa(archive: ArchiveServer, service_of: Callable[..., ProviderService]) -> Ask:
    def ask(**more: Any) -> Any:
        seconds = more.pop("seconds", 10)
        service = service_of(archive, seconds=seconds)
        return SsaProvider("eso", archive.url("/ssa?"), service, 10 / 3600, **more).products(NOVA)

    return ask


@pytest.fixture
def tap(archive: ArchiveServer, service_of: Callable[..., ProviderService]) -> Ask:
    def ask(**more: Any) -> Any:
        return ObsCoreProvider("eso", archive.url("/tap"), service_of(archive), 10 / 3600, **more).products(NOVA)

    return ask


def test_a_row_of_ssa_becomes_a_product_with_all_that_it_tells(archive: ArchiveServer, ssa: Ask) -> None:
    """NC-19: provider identity, locators and hints are there to be stored."""
    archive.will(votable(ssa_table(ROW)))
    search = ssa()
    (found,) = search
    assert search.complete
    assert search.findings == ()
    assert (found.provider, found.native_id, found.identity) == ("eso", "ivo://example/7", "id:ivo://example/7")
    assert found.locators == ("https://archive.example/get?id=7&token=abc",)
    assert found.hints["title"] == "V1324 Sco, day 12"
    assert found.hints["instrument"] == "UVES"
    assert found.hints["observed_at"] == "2012-06-13T06:00:00+00:00"
    assert found.hints["wavelength_range"] == pytest.approx([3200.0, 9900.0])
    assert (found.version, found.weak) == ("1.2", False)
    asked = archive.asked[0].query
    assert asked["POS"] == "267.7200000,-32.6200000"
    assert float(asked["SIZE"]) == pytest.approx(20 / 3600, abs=1e-6)
    assert asked["REQUEST"] == "queryData"
    assert asked["MAXREC"] == "2000"


def test_a_row_of_obscore_becomes_a_product(archive: ArchiveServer, tap: Ask) -> None:
    archive.will(votable(obscore_table(OBS)))
    (found,) = tap()
    assert found.identity == "id:ivo://example/obs?1"
    assert found.hints["telescope"] == "VLT"
    assert found.hints["size_estimate"] == 120_000
    assert found.hints["wavelength_range"] == pytest.approx([3200.0, 9900.0])
    asked = archive.asked[0]
    assert asked.path.startswith("/tap/sync?")
    assert "CIRCLE('ICRS', 267.7200000, -32.6200000, 0.0027778)" in asked.query["QUERY"]
    assert asked.query["MAXREC"] == "2000"


def test_one_product_in_several_forms_is_one_with_fits_first(archive: ArchiveServer, ssa: Ask) -> None:
    forms = [("votable", "application/x-votable+xml"), ("fits", "application/fits"), ("png", "image/png")]
    rows = [{**ROW, "AcRef": f"https://archive.example/{name}", "Format": kind} for name, kind in forms]
    archive.will(votable(ssa_table(*rows)))
    (found,) = ssa()
    assert found.locators == ("https://archive.example/fits", "https://archive.example/votable")


def test_the_same_product_under_another_session_is_the_same(archive: ArchiveServer, ssa: Ask) -> None:
    """NC-17: the same stable provider identity never gets a second dataset."""
    without_id = {**ROW, "PubDID": ""}
    archive.will(votable(ssa_table(without_id)))
    archive.will(votable(ssa_table({**without_id, "AcRef": "http://archive.example:80/get?token=xyz&id=7"})))
    (first,), (second,) = ssa(), ssa()
    assert first.identity == second.identity == "url://archive.example/get?id=7"


def test_a_product_that_is_published_again_is_told_as_another_edition(archive: ArchiveServer, ssa: Ask) -> None:
    archive.will(votable(ssa_table(ROW)), votable(ssa_table(ROW)), votable(ssa_table({**ROW, "Version": "1.3"})))
    (first,), (same,), (anew,) = ssa(), ssa(), ssa()
    assert first.identity == anew.identity
    assert not same.republished(first.edition)
    assert anew.republished(first.edition)
    assert not anew.republished(None)


def test_nothing_found_is_nothing_wrong(archive: ArchiveServer, ssa: Ask, tap: Ask) -> None:
    archive.will(votable(ssa_table()), votable(obscore_table()))
    for search in (ssa(), tap()):
        assert (search.products, search.findings, search.complete) == ((), (), True)


def test_a_nova_without_a_position_is_not_asked_about(archive: ArchiveServer, service_of: Ask) -> None:
    search = SsaProvider("eso", archive.url("/"), service_of(archive), 1.0).products(NovaQuery(("V1324 Sco",)))
    assert [each.code for each in search.findings] == ["NO_POSITION"]
    assert not search.complete
    assert archive.asked == []


def test_an_overflow_is_told_and_what_came_is_kept(archive: ArchiveServer, ssa: Ask, tap: Ask) -> None:
    archive.will(votable(ssa_table(ROW, status="OVERFLOW")), votable(obscore_table(OBS, status="OVERFLOW")))
    for search in (ssa(), tap()):
        assert len(search) == 1
        assert not search.complete
        assert search.findings[0].code == "OVERFLOW"


def test_a_service_that_ignores_how_much_is_wanted_is_cut_and_that_is_told(archive: ArchiveServer, ssa: Ask) -> None:
    archive.will(votable(ssa_table(*({**ROW, "PubDID": f"ivo://x/{n}"} for n in range(30)))))
    search = ssa(most=10)
    assert len(search) == 10
    assert search.findings[0].code == "OVERFLOW"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"AcRef": ""}, "NO_LOCATOR"),
        ({"AcRef": "file:///etc/passwd"}, "BAD_LOCATOR"),
        ({"AcRef": "https://user:secret@archive.example/x"}, "BAD_LOCATOR"),
        ({"Pos": "400.0 -32.6"}, "INVALID_COORDINATES"),
        ({"Pos": "267.72 -95"}, "INVALID_COORDINATES"),
        ({"Pos": "10.0 41.0"}, "ANOTHER_PLACE"),
    ],
)
def test_a_bad_row_is_told_beside_the_good_ones(
    archive: ArchiveServer, ssa: Ask, change: dict[str, str], code: str
) -> None:
    archive.will(votable(ssa_table({**ROW, "PubDID": "ivo://bad", **change}, ROW)))
    search = ssa()
    assert [each.native_id for each in search] == ["ivo://example/7"]
    assert [each.code for each in search.findings] == [code]
    assert "secret" not in str(search.findings)


def test_findings_without_end_are_counted(archive: ArchiveServer, ssa: Ask) -> None:
    archive.will(votable(ssa_table(*[{**ROW, "AcRef": ""}] * 150)))
    search = ssa()
    assert len(search.findings) == 101
    assert search.findings[-1].details["count"] == 50


def test_what_a_service_says_went_wrong_is_told(archive: ArchiveServer, ssa: Ask, tap: Ask) -> None:
    for ask, made in ((ssa, ssa_table), (tap, obscore_table)):
        archive.will(votable(made(status="ERROR", said="the database sleeps, see https://x/y?key=123")))
        with pytest.raises(UnusableAnswer, match="the database sleeps") as raised:
            ask()
        assert raised.value.code == "SERVICE_REPORTS_ERROR"
        assert "123" not in str(raised.value)


BOMB = b"""<?xml version="1.0"?><!DOCTYPE VOTABLE [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><VOTABLE><DESCRIPTION>&c;</DESCRIPTION></VOTABLE>"""
STREAM = b"""<VOTABLE version="1.3"><RESOURCE type="results"><TABLE><FIELD name="a" datatype="double"/><DATA><BINARY>
<STREAM href="file:///etc/passwd"/></BINARY></DATA></TABLE></RESOURCE></VOTABLE>"""
WIDE = b'<VOTABLE><RESOURCE><TABLE><FIELD datatype="double" arraysize="99999x99999"/></TABLE></RESOURCE></VOTABLE>'


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (page, "ANSWER_IS_A_PAGE"),
        (answers(200, b"<!-- hi --><HTML><p>maintenance", Content_Type="text/xml"), "ANSWER_IS_A_PAGE"),
        (votable(b""), "ANSWER_MALFORMED"),
        (votable(b"<VOTABLE><RESOURCE>"), "ANSWER_MALFORMED"),
        (votable(b"\x1f\x8b\x08\x00garbage"), "ANSWER_MALFORMED"),
        (votable(b'<?xml version="1.0" encoding="none-such"?><VOTABLE/>'), "ANSWER_MALFORMED"),
        (votable(b'<?xml version="1.0" encoding="utf-7"?><VOTABLE/>'), "ANSWER_MALFORMED"),
        (votable(b"<rss><channel/></rss>"), "ANSWER_IS_NO_VOTABLE"),
        (votable(b"<VOTABLE version='1.3'></VOTABLE>"), "ANSWER_MALFORMED"),
        (votable(b"<VOTABLE><RESOURCE type='results'><TABLE/></RESOURCE></VOTABLE>"), "ANSWER_MALFORMED"),
        (votable(BOMB), "ANSWER_HAS_ENTITIES"),
        (votable(BOMB.decode().encode("utf-16")), "ANSWER_HAS_ENTITIES"),
        (votable(STREAM), "ANSWER_IS_ELSEWHERE"),
        (votable(WIDE), "ANSWER_TOO_LARGE"),
        (votable(ssa_table(ROW, table='nrows="1000000000"')), "TOO_MANY_ROWS"),
        (votable(b"<VOTABLE>" + b"<GROUP>" * 40 + b"</GROUP>" * 40 + b"</VOTABLE>"), "ANSWER_TOO_DEEP"),
        (floods, "ANSWER_TOO_LONG"),
    ],
)
def test_an_answer_that_cannot_be_used_waits_for_a_person(
    archive: ArchiveServer, ssa: Ask, tap: Ask, behaviour: Behaviour, code: str
) -> None:
    for ask in (ssa, tap):
        archive.will(behaviour)
        with pytest.raises(UnusableAnswer) as raised:
            ask()
        assert raised.value.code == code
        assert raised.value.finding.details["host"] == "127.0.0.1"


def test_more_rows_than_are_read_are_refused_before_they_are() -> None:
    with pytest.raises(UnusableAnswer) as raised:
        screen(ssa_table(*[ROW] * 11), host="h", limits=VotableLimits(rows=10))
    assert raised.value.code == "TOO_MANY_ROWS"


@pytest.mark.parametrize("behaviour", [stays_silent, cut_off(ssa_table(ROW)), overstates(ssa_table(ROW))])
def test_an_answer_that_does_not_come_whole_is_asked_for_again(
    archive: ArchiveServer, ssa: Ask, behaviour: Behaviour
) -> None:
    archive.will(behaviour, votable(ssa_table(ROW)))
    with pytest.raises(Unanswered):
        ssa(seconds=0.5)
    assert len(ssa()) == 1


def test_failures_of_its_own_are_worth_another_attempt(archive: ArchiveServer, ssa: Ask) -> None:
    archive.will(answers(500, b"oops"), answers(502), votable(ssa_table(ROW)))
    for _ in range(2):
        with pytest.raises(Unavailable) as raised:
            ssa()
        assert raised.value.part is None
    assert len(ssa()) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_who_asks_to_be_left_alone_is_left_alone_as_long_as_it_says(
    archive: ArchiveServer, ssa: Ask, status: int
) -> None:
    archive.will(answers(status, b"slow down", Retry_After="97"))
    with pytest.raises(RetryLater) as raised:
        ssa()
    assert raised.value.after == timedelta(seconds=97)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_refusal_is_final(archive: ArchiveServer, tap: Ask, status: int) -> None:
    archive.will(answers(status, b"no such table"))
    with pytest.raises(Terminal, match=f"answered {status}"):
        tap()


@pytest.mark.parametrize(
    "to", ["http://127.0.0.2:80/x", "https://10.0.0.1/x", "https://169.254.169.254/latest", "ftp://x/"]
)
def test_nobody_leads_to_a_private_address(archive: ArchiveServer, ssa: Ask, to: str) -> None:
    archive.will(redirects(to))
    with pytest.raises(Terminal):
        ssa()
    assert len(archive.asked) == 1


def test_a_redirect_within_is_followed(archive: ArchiveServer, tap: Ask) -> None:
    archive.will(redirects("/results/7", 303), votable(obscore_table(OBS)))
    assert len(tap()) == 1
    assert [asked.path.partition("?")[0] for asked in archive.asked] == ["/tap/sync", "/results/7"]


def test_no_other_socket_is_opened_and_nothing_is_taken_from_the_environment(
    archive: ArchiveServer, ssa: Ask, tap: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one outgoing client connects within libcurl: whatever connects by Python's own sockets is somebody else."""
    seen: list[str] = []
    watching = [True]

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if watching[0] and event in ("socket.connect", "socket.getaddrinfo", "urllib.Request", "ftplib.connect"):
            seen.append(event)

    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    sys.addaudithook(watch)
    try:
        archive.will(votable(ssa_table(ROW)), votable(obscore_table(OBS)))
        assert len(ssa()) == len(tap()) == 1
        assert seen == []
        # And the hook would have seen it.
        with pytest.raises(OSError), socket.socket() as other:
            other.settimeout(1)
            other.connect(("127.0.0.1", 1))
        assert seen == ["socket.connect"]
    finally:
        watching[0] = False


def test_the_providers_are_imported_without_astropy_pyvo_and_requests() -> None:
    code = (
        "import sys, json, penstock.domains.novae, penstock.domains.novae.providers.provider_choice;"
        "print(json.dumps(sorted({'astropy', 'pyvo', 'requests', 'numpy', 'pycurl'} & set(sys.modules))))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    assert json.loads(told) == []


def test_whatever_is_changed_in_an_answer_it_is_read_or_told() -> None:
    from penstock.domains.novae.providers.ssa import offered_by_ssa
    from penstock.domains.novae.providers.vo_rows import read_answer

    chance, good = random.Random(19), ssa_table(ROW, {**ROW, "PubDID": "ivo://example/8"})
    words = [
        b"<TR>",
        b"</TD>",
        b"9e999",
        b"NaN",
        b"-",
        b"\xff",
        b"double",
        b"int",
        b"x" * 50,
        b"&amp;",
        b"2",
        b"*",
        b"",
    ]
    told = 0
    for _ in range(400):
        body = bytearray(good)
        for _ in range(chance.randint(1, 5)):
            at = chance.randrange(len(body))
            body[at : at + chance.randint(0, 8)] = chance.choice(words)
        try:
            rows = read_answer(bytes(body), host="h").rows
        except UnusableAnswer:
            told += 1
            continue
        search = Offers("eso", HERE, 1.0, 100).search(map(offered_by_ssa, rows), overflow=False)
        json.dumps([dict(each.hints) for each in search], allow_nan=False)
    assert 0 < told < 400
