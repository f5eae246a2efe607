"""Titles that were cut say so."""

from __future__ import annotations

import pytest

from penstock.review.short_title import short_title


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("A robot", "A robot"),
        ("A robot sings on the roof", "A robot sings on…"),
        ("A robot, sings, on the roof", "A robot, sings…"),
        ("x" * 40, "x" * 17 + "…"),
    ],
)
def test_a_title_that_is_cut_ends_behind_a_word_with_an_ellipsis(text: str, short: str) -> None:
    assert short_title(text, 18) == short
    assert len(short_title(text, 18)) <= 18
