"""A resolver and a bibliography elsewhere, and those at hand before them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.domains.novae.providers.ads_bibliography import AdsBibliography, BibliographyChain
from penstock.domains.novae.providers.local_index import LocalIndex
from penstock.domains.novae.providers.mast_resolver import MastResolver, read_resolution
from penstock.domains.novae.providers.object_kinds import kind_of_object
from penstock.domains.novae.providers.provider import BadPaper, ClassicalNova, Paper, SkyPlace, UnusableAnswer
from penstock.domains.novae.providers.resolver_chain import ResolverChain
from penstock.errors import InvalidValue, Unanswered, Unavailable
from penstock.generation.provider_http import ProviderService
from penstock.work.errors import PutOff, RetryLater, Terminal
from tests.domains.novae.providers.archive_server import (
    ArchiveServer,
    Asked,
    Behaviour,
    answers,
    cut_off,
    floods,
    json_text,
    page,
    redirects,
    stays_silent,
)

Open = Callable[..., ProviderService]
TOKEN = "ads-5ecret-0f-ours"
CODE = "2018A&A...609A.120F"


def _resolved(*rows: dict[str, Any]) -> bytes:
    return json.dumps({"resolvedCoordinate": list(rows), "status": ""}).encode()


def _row(resolver: str, name: str = "V1324 Sco", ra: Any = 267.72, dec: Any = -32.62, **more: Any) -> dict[str, Any]:
    return {"searchString": "v1324 sco", "resolver": resolver, "canonicalName": name, "ra": ra, "decl": dec, **more}


def _docs(*docs: Any, found: int | None = None, start: int = 0) -> bytes:
    response = {"numFound": len(docs) if found is None else found, "start": start, "docs": list(docs)}
    return json.dumps({"responseHeader": {"status": 0}, "response": response}).encode()


def _doc(bibcode: str = CODE, **more: Any) -> dict[str, Any]:
    return {"bibcode": bibcode, "title": ["A nova"], "author": ["Finzell, T."], "pubdate": "2018-01-00", **more}


@pytest.fixture
def resolver(archive: ArchiveServer, service_of: Open) -> MastResolver:
    return MastResolver(archive.url("/query"), service_of(archive, seconds=0.5))


@pytest.fixture
def ads(archive: ArchiveServer, service_of: Open) -> AdsBibliography:
    return AdsBibliography(archive.url("/v1"), service_of(archive, token=TOKEN, seconds=0.5))


# Names


def test_catalogues_that_agree_are_one_match(archive: ArchiveServer, resolver: MastResolver) -> None:
    """NC-6: a name means zero, one or more objects."""
    rows = [
        _row("SIMBAD", "V* V1324 Sco", objectType="Nova"),
        _row("NED", "NOVA Sco 2012", ra=267.72001),
        {**_row("SIMBAD"), "searchString": "another"},
    ]
    archive.will(json_text(_resolved(*rows)))
    (match,) = resolver.resolve("  V1324_Sco ").matches
    assert match.canonical_name == "V1324 Sco"
    assert match.aliases == ("V* V1324 Sco", "NOVA Sco 2012")
    assert match.position == SkyPlace(267.72, -32.62)
    assert match.is_classical_nova is ClassicalNova.YES
    assert match.source == "SIMBAD, NED"
    assert archive.asked[0].query == {"name": "v1324 sco", "outputFormat": "json", "resolveAll": "true"}


def test_catalogues_that_disagree_are_several_matches(archive: ArchiveServer, resolver: MastResolver) -> None:
    """NC-7: several are told, and none is picked."""
    archive.will(json_text(_resolved(_row("SIMBAD"), _row("NED", dec=-32.60))))
    assert len(resolver.resolve("V1324 Sco").matches) == 2


@pytest.mark.parametrize("behaviour", [json_text(_resolved()), answers(404, b'{"status": "not found"}')])
def test_a_name_that_nobody_knows_means_nothing(
    archive: ArchiveServer, resolver: MastResolver, behaviour: Behaviour
) -> None:
    archive.will(behaviour)
    assert resolver.resolve("V1324 Sco").matches == ()


@pytest.mark.parametrize(
    ("ra", "dec"), [(400, 0), (10, -91), ("ten", 4), (float("nan"), 1), (None, 4), ({}, []), (10**400, 1)]
)
def test_a_place_that_is_none_is_told_and_not_taken(
    archive: ArchiveServer, resolver: MastResolver, ra: Any, dec: Any
) -> None:
    archive.will(json_text(_resolved(_row("SIMBAD", ra=ra, dec=dec), _row("NED"))))
    resolution = resolver.resolve("V1324 Sco")
    assert [each.source for each in resolution.matches] == ["NED"]
    assert [each.code for each in resolution.findings] == ["INVALID_COORDINATES"]


def test_an_answer_as_deep_as_can_be_is_told_and_not_repeated(archive: ArchiveServer, resolver: MastResolver) -> None:
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    archive.will(json_text(_resolved(_row("SIMBAD", ra=deep, dec=deep), {"canonicalName": deep})))
    assert [each.code for each in resolver.resolve("V1324 Sco").findings] == ["INVALID_COORDINATES", "ANSWER_MALFORMED"]


def test_catalogues_that_contradict_each_other_leave_it_unknown(archive: ArchiveServer, resolver: MastResolver) -> None:
    archive.will(json_text(_resolved(_row("SIMBAD", objectType="Nova"), _row("NED", objectType="SN"))))
    (match,) = resolver.resolve("V1324 Sco").matches
    assert match.is_classical_nova is ClassicalNova.UNKNOWN
    assert match.object_type == "Nova / SN"


def test_an_object_without_a_name_is_told(archive: ArchiveServer, resolver: MastResolver) -> None:
    archive.will(json_text(_resolved(_row("SIMBAD", name=""), [], "x")))  # type: ignore[arg-type] # that is the point
    resolution = resolver.resolve("V1324 Sco")
    assert resolution.matches == ()
    assert [each.code for each in resolution.findings] == ["ANSWER_MALFORMED"] * 3


@pytest.mark.parametrize(
    ("told", "is_one"),
    [
        ("Nova", "yes"),
        ("No*", "yes"),
        ("ClassicalNova", "yes"),
        ("Classical Nova", "yes"),
        ("ClassicalNova_Candidate", "unknown"),
        ("CataclyV*", "unknown"),
        ("Symbiotic*", "unknown"),
        (None, "unknown"),
        ("SN*", "no"),
        ("Supernova", "no"),
        ("BYDraV*", "no"),
        ("G", "no"),
    ],
)
def test_what_an_object_is_called_tells_whether_it_may_be_a_nova(told: str | None, is_one: str) -> None:
    assert kind_of_object(told) == is_one


@pytest.mark.parametrize("name", ["", "   ", "x" * 201])
def test_a_name_that_can_be_none_is_not_asked_for(archive: ArchiveServer, resolver: MastResolver, name: str) -> None:
    with pytest.raises(InvalidValue):
        resolver.resolve(name)
    assert archive.asked == []


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (page, "ANSWER_IS_A_PAGE"),
        (json_text(b"[1, 2]"), "ANSWER_MALFORMED"),
        (json_text(b'{"cut": '), "ANSWER_MALFORMED"),
        (json_text(b"[" * 100_000), "ANSWER_MALFORMED"),
        (floods, "ANSWER_TOO_LONG"),
    ],
)
def test_an_answer_that_is_no_json_waits_for_a_person(
    archive: ArchiveServer, resolver: MastResolver, ads: AdsBibliography, behaviour: Behaviour, code: str
) -> None:
    archive.will(behaviour, behaviour)
    for ask in (lambda: resolver.resolve("x"), lambda: list(ads.papers(["x"]))):
        with pytest.raises(UnusableAnswer) as raised:
            ask()
        assert raised.value.code == code


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (stays_silent, Unanswered),
        (cut_off(_resolved(_row("SIMBAD"))), Unanswered),
        (answers(500), Unavailable),
        (answers(400), Terminal),
        (redirects("https://192.168.0.1/"), Terminal),
    ],
)
def test_failures_are_told_by_how_they_are_to_be_taken(
    archive: ArchiveServer, resolver: MastResolver, ads: AdsBibliography, behaviour: Behaviour, error: type[Exception]
) -> None:
    archive.will(behaviour, behaviour)
    for ask in (lambda: resolver.resolve("x"), lambda: list(ads.papers(["x"]))):
        with pytest.raises(error):
            ask()


def test_a_host_that_asks_to_be_left_alone_is_not_asked_by_others_either(
    archive: ArchiveServer, resolver: MastResolver, ads: AdsBibliography
) -> None:
    archive.will(answers(429, Retry_After="30"))
    with pytest.raises(RetryLater) as raised:
        resolver.resolve("x")
    assert raised.value.after == timedelta(seconds=30)
    with pytest.raises(PutOff, match="left alone"):
        list(ads.papers(["x"]))
    assert len(archive.asked) == 1


# Papers


def test_a_paper_is_read_as_ads_tells_it(archive: ArchiveServer, ads: AdsBibliography) -> None:
    """NC-14: what a reference is made of."""
    archive.will(json_text(_docs(_doc(doi=["10.1051/x"], pub="A&A"))))
    (paper,) = ads.papers(["V1324 Sco"])
    assert paper == Paper(CODE, "A nova", ("Finzell, T.",), "2018-01-00", "10.1051/x", "A&A", "127.0.0.1")
    asked = archive.asked[0]
    assert asked.path.startswith("/v1/search/query?")
    assert 'title:"V1324 Sco"' in asked.query["q"]
    assert asked.headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("doc", "code"),
    [
        ({"bibcode": None}, "BAD_BIBCODE"),
        ({"bibcode": "short"}, "BAD_BIBCODE"),
        ({"bibcode": CODE + "x"}, "BAD_BIBCODE"),
        ({"pubdate": "soon"}, "BAD_DATE"),
        ({"pubdate": "2018-13-00"}, "BAD_DATE"),
        ({"pubdate": "2018-02-31"}, "BAD_DATE"),
        ({"pubdate": "2018-00-12"}, "BAD_DATE"),
    ],
)
def test_a_bad_paper_is_told_beside_the_others(
    archive: ArchiveServer, ads: AdsBibliography, doc: dict[str, Any], code: str
) -> None:
    good = "2012CBET.3136....1W"
    archive.will(json_text(_docs({**_doc(), **doc}, _doc(good), "not even one")))
    bad, paper, other = ads.papers(["V1324 Sco"])
    assert isinstance(bad, BadPaper)
    assert bad.finding.code == code
    assert isinstance(paper, Paper)
    assert paper.reference_id == good
    assert isinstance(other, BadPaper)


@pytest.mark.parametrize(("told", "date"), [("2011", "2011-00-00"), ("2011-05", "2011-05-00"), (None, "2018-00-00")])
def test_what_is_not_known_of_a_date_is_00(
    archive: ArchiveServer, ads: AdsBibliography, told: str | None, date: str
) -> None:
    """F-NC-9: dates of a month's precision are handled."""
    archive.will(json_text(_docs(_doc(pubdate=told))))
    (paper,) = ads.papers(["V1324 Sco"])
    assert isinstance(paper, Paper)
    assert paper.date == date


def test_pages_are_followed_to_the_last(archive: ArchiveServer, service_of: Open) -> None:
    codes = [f"2018A&A...609A.{n:03d}F" for n in range(5)]
    for start in (0, 2, 4):
        archive.will(json_text(_docs(*map(_doc, codes[start : start + 2]), found=5, start=start)))
    papers = list(AdsBibliography(archive.url("/v1"), service_of(archive, token=TOKEN), rows=2).papers(["x"]))
    assert [each.reference_id for each in papers if isinstance(each, Paper)] == codes
    assert [asked.query["start"] for asked in archive.asked] == ["0", "2", "4"]


def test_pages_without_end_are_not(archive: ArchiveServer, service_of: Open) -> None:
    archive.usual = json_text(_docs(_doc(), found=10**9))
    *papers, last = AdsBibliography(archive.url("/v1"), service_of(archive, token=TOKEN), pages=3).papers(["x"])
    assert len(archive.asked) == 3
    assert len(papers) == 1  # each once
    assert isinstance(last, BadPaper)
    assert last.finding.code == "OVERFLOW"


def test_an_empty_page_ends_the_pages(archive: ArchiveServer, ads: AdsBibliography) -> None:
    archive.usual = json_text(_docs(found=100))
    assert list(ads.papers(["x"])) == []
    assert len(archive.asked) == 1


def test_a_name_cannot_become_a_query(archive: ArchiveServer, ads: AdsBibliography) -> None:
    archive.usual = json_text(_docs())
    assert list(ads.papers(['x" OR author:"Y\\', '"'])) == []
    (asked,) = archive.asked
    assert asked.query["q"].count('"') == 6


def test_what_is_not_asked_for_is_told(archive: ArchiveServer, ads: AdsBibliography) -> None:
    archive.usual = json_text(_docs())
    told = list(ads.papers([f"nova {n}" for n in range(21)], ["none"]))
    assert [each.finding.code for each in told if isinstance(each, BadPaper)] == ["TOO_MANY_NAMES", "BAD_BIBCODE"]
    assert len(archive.asked) == 20


def test_a_token_that_is_echoed_is_in_no_error_and_no_log(
    archive: ArchiveServer, ads: AdsBibliography, caplog: pytest.LogCaptureFixture
) -> None:
    def echoes(handler: Any, asked: Asked) -> None:
        handler.answer(403, f"bad token {asked.headers['Authorization']} ({TOKEN})".encode())

    archive.will(echoes)
    with caplog.at_level(logging.DEBUG), pytest.raises(Terminal, match="bad token") as raised:
        list(ads.papers(["x"]))
    assert TOKEN not in f"{raised.value!r} {raised.value} {raised.value.__cause__} {caplog.text}"
    assert TOKEN not in repr(ads)


def test_the_token_stays_with_its_origin(archive: ArchiveServer, service_of: Open) -> None:
    with ArchiveServer(json_text(_docs())) as other:
        archive.will(redirects(other.url("/elsewhere")))
        service = ProviderService(archive.url(), TOKEN, trusted=[other.url()])
        assert list(AdsBibliography(archive.url("/v1"), service).papers(["x"])) == []
        service.fetch("GET", other.url("/asked/directly"))
        service.close()
        assert len(other.asked) == 2
        assert all("Authorization" not in asked.headers for asked in other.asked)


# At hand first


@pytest.fixture
def local(tmp_path: Path) -> LocalIndex:
    nova = {"name": "V1324 Sco", "aliases": ["Nova Sco 2012"], "ra": 267.72, "dec": -32.62, "type": "Nova"}
    papers = [{"bibcode": CODE, "title": "Known here", "date": "2018-01-15"}]
    manifest = {"novae": [{**nova, "bibcodes": [CODE]}, {"name": "GQ Mus"}], "papers": papers}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return LocalIndex("local", tmp_path)


def test_what_is_known_at_hand_is_not_asked_for(
    archive: ArchiveServer, ads: AdsBibliography, local: LocalIndex
) -> None:
    other = "2012CBET.3136....1W"
    archive.will(json_text(_docs(_doc(other))))
    papers = list(BibliographyChain((local, ads)).papers(bibcodes=[CODE, other]))
    assert [each.reference_id for each in papers if isinstance(each, Paper)] == [CODE, other]
    (asked,) = archive.asked
    assert CODE not in asked.query["q"]
    assert other in asked.query["q"]


def test_a_nova_that_the_folder_is_sure_of_is_asked_of_nobody(
    archive: ArchiveServer, resolver: MastResolver, local: LocalIndex
) -> None:
    (match,) = ResolverChain((local, resolver)).resolve("nova sco 2012").matches
    assert match.canonical_name == "V1324 Sco"
    assert archive.asked == []


def test_a_nova_without_a_place_at_hand_gets_that_of_the_resolver(
    archive: ArchiveServer, resolver: MastResolver, local: LocalIndex
) -> None:
    row = {**_row("SIMBAD", "V* GQ Mus", objectType="No*"), "searchString": "gq mus"}
    archive.will(json_text(_resolved(row)))
    (match,) = ResolverChain((local, resolver)).resolve("GQ Mus").matches
    assert match.canonical_name == "GQ Mus"
    assert match.position == SkyPlace(267.72, -32.62)
    assert match.is_classical_nova is ClassicalNova.YES


def test_an_answer_without_its_list_is_told() -> None:
    assert read_resolution({"resolvedCoordinate": 7}, "x", host="h").findings[0].code == "ANSWER_MALFORMED"
    assert read_resolution({"status": ""}, "x", host="h").findings == ()
