"""Whatever JSON says, it is read or told; nothing else comes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.domains.novae.providers.local_index import LocalIndex
from penstock.domains.novae.providers.mast_resolver import read_resolution
from penstock.domains.novae.providers.paper_reading import read_paper
from penstock.domains.novae.providers.provider import BadPaper, NovaQuery, Paper
from penstock.errors import Misconfigured

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        ["V1324 Sco", "a.fits", "../x", "17:50:53.9", "2018A&A...609A.120F", "2018-01-00", "Nova", "12:99"]
    )
)
_ANY = st.recursive(
    _SCALARS, lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each, max_size=3)
)


def _objects(*names: str) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from(names), _ANY, max_size=len(names)) | _ANY


_FILES = st.lists(_objects("file", "id", "ticket", "sha256", "md5", "size"), max_size=3) | _ANY
_NOVAE = st.fixed_dictionaries(
    {"name": st.just("V1324 Sco") | _ANY},
    optional={
        "ra": _ANY,
        "dec": _ANY,
        "aliases": _ANY,
        "type": _ANY,
        "spectra": _FILES,
        "photometry": _FILES,
        "bibcodes": _ANY,
    },
)


@settings(max_examples=150, deadline=None)
@given(told=st.fixed_dictionaries({"novae": st.lists(_NOVAE | _ANY, max_size=3)}, optional={"papers": _ANY}) | _ANY)
def test_any_manifest_is_read_or_told(tmp_path_factory: pytest.TempPathFactory, told: Any) -> None:
    folder = tmp_path_factory.mktemp("index")
    (folder / "a.fits").write_text("x")
    (folder / "manifest.json").write_text(json.dumps(told))
    index = LocalIndex("local", folder)
    try:
        search = index.products(NovaQuery(("V1324 Sco",)))
    except Misconfigured:
        return
    index.resolve("V1324 Sco")
    list(index.papers(["V1324 Sco"]))
    json.dumps([dict(each.hints) for each in search], allow_nan=False)
    assert {each.locators for each in search} <= {("local:a.fits",), ("local:manifest.json",)}


_ROWS = _objects("canonicalName", "ra", "decl", "dec", "resolver", "objectType", "searchString")


@settings(max_examples=150, deadline=None)
@given(
    answer=st.fixed_dictionaries({"resolvedCoordinate": st.lists(_ROWS, max_size=4) | _ANY}, optional={"status": _ANY})
)
def test_any_answer_of_a_resolver_is_read_or_told(answer: dict[str, Any]) -> None:
    read_resolution(answer, "V1324 Sco", host="h")


@settings(max_examples=150, deadline=None)
@given(doc=_objects("bibcode", "title", "author", "pubdate", "date", "doi", "pub"))
def test_any_paper_is_read_or_told(doc: Any) -> None:
    read = read_paper(doc, source="h")
    assert isinstance(read, Paper | BadPaper)
