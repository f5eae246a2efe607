"""Every error is documented, with what to do about it."""

from __future__ import annotations

from pathlib import Path

from penstock.web.reference import all_errors, errors_page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "errors.md"


def test_every_error_is_listed() -> None:
    """Write it anew with: python -m penstock.web.reference > docs/reference/errors.md."""
    assert PAGE.read_text() == errors_page()
    assert [line[3:] for line in PAGE.read_text().splitlines() if line.startswith("## ")] == [
        kind.slug for kind in all_errors()
    ]
