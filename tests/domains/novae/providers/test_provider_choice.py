"""What settings say about providers, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.domains.novae.providers.local_index import LocalIndex
from penstock.domains.novae.providers.obscore import ObsCoreProvider
from penstock.domains.novae.providers.provider import NovaQuery, Paper, SkyPlace
from penstock.domains.novae.providers.provider_choice import Providers, chosen
from penstock.domains.novae.providers.provider_options import PROVIDER_SETTINGS
from penstock.domains.novae.providers.ssa import SsaProvider
from penstock.errors import Misconfigured
from penstock.ports.clock import SystemClock
from penstock.work.domain_context import DomainContext
from tests.domains.novae.providers.archive_server import ArchiveServer, file, json_text, votable
from tests.domains.novae.providers.made_votables import ssa_table
from tests.domains.novae.providers.made_zips import fits
from tests.domains.novae.providers.test_vo_archives import ROW


def _chosen(**settings: str) -> Providers:
    return chosen(settings.get)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "manifest.json").write_text(json.dumps({"novae": [{"name": "V1324 Sco"}]}))
    return tmp_path


def test_by_default_nobody_is_asked() -> None:
    providers = _chosen()
    assert providers.spectra == ()
    assert providers.resolver.resolve("V1324 Sco").matches == ()
    assert list(providers.bibliography.papers(["V1324 Sco"])) == []


def test_providers_are_built_in_the_order_they_are_named(folder: Path) -> None:
    text = f"local:{folder}, ssa+https://ssa.example/ssap?, eso=tap+https://tap.example/tap_obs"
    local, ssa, tap = _chosen(NC_PROVIDERS=text, NC_SEARCH_ARCSECONDS="36", NC_MOST_PRODUCTS="7").spectra
    assert isinstance(local, LocalIndex)
    assert isinstance(ssa, SsaProvider)
    assert isinstance(tap, ObsCoreProvider)
    assert (local.name, ssa.name, tap.name) == ("local", "ssa-ssa.example", "eso")
    assert ssa.radius == pytest.approx(0.01)
    assert ssa.most == 7


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"NC_PROVIDERS": "https://x.example"}, "provider 1 is none that is known"),
        ({"NC_PROVIDERS": "scs+https://x.example"}, "provider 1 is none that is known"),
        ({"NC_PROVIDERS": "local:"}, "names no folder"),
        ({"NC_PROVIDERS": "local:/no/such/folder"}, "is none"),
        ({"NC_PROVIDERS": "ssa+ftp://x.example/"}, "begins with 'ftp'"),
        ({"NC_PROVIDERS": "ssa+https://me:hunter2@x.example/"}, "holds a user or a password"),
        ({"NC_PROVIDERS": "a=ssa+https://x.example, a=tap+https://y.example"}, "a is there twice"),
        ({"NC_PROVIDERS": "Big Name=ssa+https://x.example"}, "is none that is known"),
        ({"NC_PROVIDERS": "BIG=ssa+https://x.example"}, "cannot be called 'BIG'"),
        ({"NC_RESOLVER": "x"}, "NC_RESOLVER has a URL"),
        ({"NC_TRUSTED": "x"}, "NC_TRUSTED has a URL"),
        ({"NC_BIBLIOGRAPHY": "https://x.example/v1"}, "NC_ADS_TOKEN is not"),
        ({"NC_ADS_TOKEN": "hunter2"}, "NC_BIBLIOGRAPHY is not"),
        ({"NC_BIBLIOGRAPHY": "https://x.example/v1", "NC_ADS_TOKEN": "hunter2 ü"}, "not ASCII"),
        ({"NC_REQUESTS_PER_SECOND": "0"}, "is not a number from 0.01 to 100"),
        ({"NC_REQUESTS_AT_ONCE": "many"}, "is not a whole number"),
        ({"NC_DOWNLOAD_SECONDS": "86400"}, "is not a whole number from 1 to 3600"),
    ],
)
def test_what_is_wrong_with_a_setting_is_told_without_its_secrets(settings: dict[str, str], told: str) -> None:
    with pytest.raises(Misconfigured) as raised:
        _chosen(**settings)
    assert told in str(raised.value)
    assert "hunter2" not in str(raised.value)


def test_the_token_is_never_shown() -> None:
    (token,) = [each for each in PROVIDER_SETTINGS if each.variable == "NC_ADS_TOKEN"]
    assert token.secret
    providers = _chosen(NC_BIBLIOGRAPHY="https://x.example/v1", NC_ADS_TOKEN="hunter2")
    assert "hunter2" not in repr(providers)


def test_from_settings_to_a_file_and_a_paper(archive: ArchiveServer, folder: Path) -> None:
    providers = _chosen(
        NC_PROVIDERS=f"local:{folder}, eso=ssa+{archive.url('/ssa')}",
        NC_RESOLVER=archive.url("/resolve"),
        NC_BIBLIOGRAPHY=archive.url("/v1"),
        NC_ADS_TOKEN="t0ken",
        NC_REQUESTS_PER_SECOND="100",
    )
    row = {"canonicalName": "V1324 Sco", "ra": 267.72, "decl": -32.62, "resolver": "SIMBAD", "objectType": "Nova"}
    doc = {"bibcode": "2018A&A...609A.120F", "pubdate": "2018-01-00"}
    archive.will(
        json_text(json.dumps({"resolvedCoordinate": [row]}).encode()),
        votable(ssa_table({**ROW, "AcRef": archive.url("/7.fits")})),
        file(fits()),
        json_text(json.dumps({"response": {"numFound": 1, "docs": [doc]}}).encode()),
    )
    (match,) = providers.resolver.resolve("V1324 Sco").matches
    assert match.position == SkyPlace(267.72, -32.62)
    nova = NovaQuery(("V1324 Sco",), match.position)
    (product,) = [each for provider in providers.spectra for each in provider.products(nova)]
    assert providers.acquisition.acquire(product, folder / "work").byte_length == len(fits())
    (paper,) = providers.bibliography.papers(["V1324 Sco"])
    assert isinstance(paper, Paper)
    shown = [(asked.path.partition("?")[0], "Authorization" in asked.headers) for asked in archive.asked]
    assert shown == [("/resolve", False), ("/ssa", False), ("/7.fits", False), ("/v1/search/query", True)]
    providers.close()


def test_a_context_has_one_and_ends_it(folder: Path) -> None:
    store = cast(Any, SimpleNamespace(clock=SystemClock()))
    context = DomainContext(store, cast(Any, None), {"NC_PROVIDERS": f"local:{folder}"}.get)
    assert Providers.within(context) is Providers.within(context)
    context.close()
