"""Answers that services have really given, replayed on loopback."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.domains.novae.providers.ads_bibliography import AdsBibliography
from penstock.domains.novae.providers.mast_resolver import MastResolver
from penstock.domains.novae.providers.obscore import ObsCoreProvider
from penstock.domains.novae.providers.provider import NovaQuery, Paper, SkyPlace
from penstock.domains.novae.providers.ssa import SsaProvider
from penstock.generation.provider_http import ProviderService
from tests.domains.novae.providers.archive_server import ArchiveServer, json_text, votable
from tests.domains.novae.providers.conftest import SAMPLES

Open = Callable[..., ProviderService]
NOVA = NovaQuery(("V1324 Sco",), SkyPlace(267.72, -32.62))


def _sample(name: str) -> bytes:
    path = SAMPLES / "vo" / name
    if not path.is_file():
        pytest.skip(f"there is no folder of real samples beside the repository: shared/data/vo/{name}")
    return path.read_bytes()


@pytest.mark.realdata
def test_a_real_answer_to_ssa_is_read(archive: ArchiveServer, service_of: Open) -> None:
    archive.will(votable(_sample("ssa_result.xml")))
    provider = SsaProvider("jhu", archive.url("/ssa"), service_of(archive), 0.25)
    search = provider.products(NovaQuery(("a place",), SkyPlace(180.0, 1.0)))
    assert len(search) == 35  # INFO TableRows of the answer itself
    first = search.products[0]
    assert first.native_id == "ivo://jhu/sdss/dr6/spec/2.5#80442261170552832"
    assert first.hints["instrument"] == "SDSS 2.5-M SPEC2 v4_5"
    assert first.version == "6.2.5|2000-04-29 03:22:00Z"
    assert len({each.identity for each in search}) == 35


@pytest.mark.realdata
def test_a_real_answer_of_obscore_with_images_alone_has_no_spectrum(archive: ArchiveServer, service_of: Open) -> None:
    archive.will(votable(_sample("obscore-image.xml")))
    search = ObsCoreProvider("gavo", archive.url("/tap"), service_of(archive), 180.0).products(NOVA)
    assert search.products == ()
    assert {each.code for each in search.findings} == {"NOT_A_SPECTRUM"}
    assert len(search.findings) == 10


@pytest.mark.realdata
def test_the_same_answer_about_spectra_is_read(archive: ArchiveServer, service_of: Open) -> None:
    body = _sample("obscore-image.xml").replace(b"<TD>image</TD>", b"<TD>spectrum</TD>")
    archive.will(votable(body))
    search = ObsCoreProvider("gavo", archive.url("/tap"), service_of(archive), 180.0).products(NOVA)
    assert len(search) == 10
    assert search.products[0].native_id == "ivo://org.gavo.dc/~?potsdam/data/fits/POT032_000002E.fits"
    assert search.products[0].hints["observed_at"] == "1913-08-26T00:00:00+00:00"


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["kang2010.xml", "query_photometry.xml", "query_references.xml", "scs_result.xml"])
def test_other_real_tables_are_no_spectra_and_break_nothing(
    archive: ArchiveServer, service_of: Open, name: str
) -> None:
    archive.will(votable(_sample(name)))
    search = SsaProvider("other", archive.url("/ssa"), service_of(archive), 180.0).products(NOVA)
    assert all(each.locators for each in search)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "canonical", "matches", "is_one"),
    [
        ("TIC 307210830", "TIC 307210830", 1, "no"),
        ("Barnard's star", "Barnard's star", 1, "no"),
        ("m103", "M 103", 2, "no"),
    ],
)
def test_a_real_answer_of_the_resolver_is_read(
    archive: ArchiveServer, service_of: Open, name: str, canonical: str, matches: int, is_one: str
) -> None:
    archive.will(json_text(_sample("resolver.json")))
    resolution = MastResolver(archive.url("/query"), service_of(archive)).resolve(name)
    assert len(resolution.matches) == matches
    assert resolution.matches[0].canonical_name == canonical
    assert resolution.matches[0].is_classical_nova == is_one
    assert resolution.findings == ()


@pytest.mark.realdata
def test_a_real_answer_of_ads_is_read(archive: ArchiveServer, service_of: Open) -> None:
    archive.will(json_text(_sample("test_text.txt")))
    (paper,) = AdsBibliography(archive.url("/v1"), service_of(archive, token="t0ken")).papers(["x"])
    assert isinstance(paper, Paper)
    assert (paper.reference_id, paper.date) == ("2011IAUS..280P.295P", "2011-05-00")
    assert paper.title == "Origin of water around deeply embedded low-mass protostars"
    assert len(paper.authors) == 3
