"""The page on providers says what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.domains.novae.providers.local_index import LocalIndex
from penstock.domains.novae.providers.provider import NovaQuery, Paper
from penstock.domains.novae.providers.provider_options import PROVIDER_SETTINGS, chosen_providers

PAGE = (Path(__file__).parents[4] / "docs" / "novae-providers.md").read_text()
NOVA = NovaQuery(("nova sco 2012",))


@pytest.mark.parametrize(("kind", "spectra"), [("json", 2), ("csv", 1)])
def test_the_manifests_of_the_page_are_read(tmp_path: Path, kind: str, spectra: int) -> None:
    (text,) = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / f"manifest.{kind}").write_text(text)
    for path in ("spectra/day12.fits", "spectra/day30.zip", "photometry/aavso.csv", "photometry/aavso.txt"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("x")
    index = LocalIndex("local", tmp_path)
    assert index.index().findings == []
    assert index.products(NOVA).findings == ()
    assert len(index.products(NOVA)) == spectra
    (table,) = index.photometry(NOVA)
    assert table.hints["ticket"] == "local:photometry/aavso.txt"
    (match,) = index.resolve("V1324 Sco").matches
    assert match.position is not None
    assert match.position.ra == pytest.approx(267.7246, abs=1e-4)
    (paper,) = index.papers(["V1324 Sco"], ["2018A&A...609A.120F"])
    assert isinstance(paper, Paper)
    assert paper.date == "2018-01-00"


def test_every_setting_is_on_the_page() -> None:
    assert set(re.findall(r"`(NC_\w+)`", PAGE)) == {each.variable for each in PROVIDER_SETTINGS}


def test_the_providers_of_the_page_are_understood() -> None:
    (text,) = re.findall(r'NC_PROVIDERS="(.*)"', PAGE)
    assert [each.name for each in chosen_providers(text)] == ["local", "eso", "ssa-other.example"]
