"""The same product is the same, however it is published again; two are two."""

from __future__ import annotations

import pytest

from penstock.domains.novae.providers.product_identity import LONGEST_IDENTITY, lasting_url, product_identity

URL = "https://archive.example/get/a%20b.fits?id=7&obs=2"


@pytest.mark.parametrize(
    "again",
    [
        URL,
        "http://archive.example/get/a%20b.fits?id=7&obs=2",
        "https://ARCHIVE.example:443/get/a%20b.fits?obs=2&id=7",
        f"{URL}&token=abc",
        f"{URL}&X-Amz-Signature=1&X-Amz-Date=20260101&Expires=9#top",
        "https://archive.example/get/a%20b.fits;jsessionid=AB12?id=7&obs=2",
    ],
)
def test_what_changes_from_day_to_day_is_no_part_of_it(again: str) -> None:
    """NC-17: the same stable provider identity."""
    assert lasting_url(again) == lasting_url(URL) == "//archive.example/get/a%20b.fits?id=7&obs=2"


@pytest.mark.parametrize(
    "other",
    [
        "https://archive.example/get/a%20b.fits?id=8&obs=2",
        "https://archive.example/get/A%20b.fits?id=7&obs=2",
        "https://archive.example:8443/get/a%20b.fits?id=7&obs=2",
        "https://other.example/get/a%20b.fits?id=7&obs=2",
        "https://archive.example/get/a%2Fb.fits?id=7&obs=2",
        f"{URL}&session=2",
        f"{URL}&timestamp=20120613",
    ],
)
def test_what_tells_two_files_apart_is_part_of_it(other: str) -> None:
    assert lasting_url(other) != lasting_url(URL)


def test_its_own_key_goes_before_a_url_and_a_url_before_a_guess() -> None:
    key = product_identity(native_id=" ivo://x/1 ", locators=(URL,))
    url = product_identity(native_id=None, locators=(URL,))
    guess = product_identity(native_id=None, locators=(), observed_at="2012-06-13", size=7)
    assert key is not None
    assert url is not None
    assert guess is not None
    assert [key.text, url.text, guess.text] == ["id:ivo://x/1", f"url:{lasting_url(URL)}", "weak:2012-06-13:7"]
    assert [key.weak, url.weak, guess.weak] == [False, False, True]
    assert product_identity(native_id="  ", locators=(), observed_at="2012-06-13") is None


def test_long_ones_stay_apart() -> None:
    one, other = (product_identity(native_id="x" * 5000 + end, locators=()) for end in "ab")
    assert one is not None
    assert other is not None
    assert one != other
    assert len(one.text) <= LONGEST_IDENTITY


@pytest.mark.parametrize("text", ["", "no url", "http://[", "local:a/b.fits", "ftp://x/y"])
def test_what_is_no_url_of_the_web_stays_as_it_is(text: str) -> None:
    assert lasting_url(text) == text
