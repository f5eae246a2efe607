"""The documents' own function signs on the object store that the environment chooses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from penstock import generate_presigned_url, validate_s3_key
from penstock.errors import InvalidKey, InvalidValue
from penstock.objects import RouteSigner
from penstock.runtime import presigned

SECRET = "a secret of sixteen bytes"


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PENSTOCK_OBJECTS", f"files:///{tmp_path}")
    monkeypatch.setenv("PENSTOCK_SECRET", SECRET)
    monkeypatch.setenv("PENSTOCK_PUBLIC_URL", "https://films.example/")
    presigned._configured.cache_clear()
    yield
    presigned._configured.cache_clear()


def test_a_url_is_signed_on_demand() -> None:
    """MV-59: an hour unless told otherwise."""
    key = validate_s3_key("mv/projects/123/character.png")
    url = urlsplit(generate_presigned_url(key))
    assert (url.netloc, url.path) == ("films.example", "/objects/mv/projects/123/character.png")
    signer = RouteSigner(SECRET.encode(), url="https://films.example/objects")
    an_hour = signer.read("GET", key, parse_qsl(url.query))
    a_minute = signer.read("GET", key, parse_qsl(urlsplit(generate_presigned_url(key, expiry=60)).query))
    assert abs(an_hour.expires - a_minute.expires - 3540) <= 2


def test_what_is_no_key_is_not_signed() -> None:
    for wrong in ("https://bucket/a.png", "../a", "a.png?X-Amz-Signature=b"):
        with pytest.raises(InvalidKey, match="must be an S3 key"):
            generate_presigned_url(wrong)
    for expiry in (0, -1):
        with pytest.raises(InvalidValue, match="at least a second"):
            generate_presigned_url("a", expiry=expiry)


def test_files_may_be_reached_at_an_address_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_OBJECTS_URL", "https://files.example/kept")
    presigned._configured.cache_clear()
    url = urlsplit(generate_presigned_url("a.png"))
    assert (url.netloc, url.path) == ("files.example", "/kept/a.png")
