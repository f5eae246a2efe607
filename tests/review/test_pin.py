"""Pins: one place, within what there is; and their order."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from penstock.review.pin import Pin

REGION = {"x": 0.5, "y": 0.5, "width": 0.5, "height": 0.5}
CAMERA = {"position": [0, 1, 2], "target": [0, 0, 0]}


@pytest.mark.parametrize(
    "given",
    [
        {"time_ms": 0},
        {"time_ms": 1200, "end_ms": 1200, "frame": 36, "region": REGION},
        {"frame": 3},
        {"region": REGION},
        {"point": {"x": 1, "y": -2, "z": 3.5, "camera": CAMERA}},
        {"wavelength": 6562.8},
        {"julian_date": 2459000.5},
    ],
)
def test_a_place_is_kept_as_it_was_given(given: dict[str, Any]) -> None:
    pin = Pin.model_validate(given)
    assert Pin.model_validate(pin.model_dump(mode="json", exclude_none=True)) == pin


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "says where"),
        ({"time_ms": -1}, "greater than or equal"),
        ({"end_ms": 5}, "begins at time_ms"),
        ({"time_ms": 9, "end_ms": 5}, "begins at time_ms"),
        ({"region": {**REGION, "x": 0.6}}, "outside the picture"),
        ({"region": {**REGION, "width": float("nan")}}, "finite"),
        ({"wavelength": 0}, "greater than"),
        ({"wavelength": float("inf")}, "finite"),
        ({"wavelength": 5000, "julian_date": 2459000.5}, "stands alone"),
        ({"point": {"x": 1, "y": 2, "z": 3}, "time_ms": 4}, "stands alone"),
        ({"frame": 1, "colour": "red"}, "not permitted"),
    ],
)
def test_what_is_no_place_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Pin.model_validate(given)


def test_places_are_ordered_by_time_frame_wavelength_or_date() -> None:
    places: dict[str, list[float]] = {
        "time_ms": [0, 5, 7 * 24 * 3600 * 1000],
        "frame": [0, 1, 100_000_000],
        "wavelength": [0.5, 3000, 3000.001, 1e9],
        "julian_date": [0, 2459000.5, 2459000.50001, 1e8],
    }
    for name, values in places.items():
        found = [Pin.model_validate({name: value}).position for value in values]
        assert found == sorted(set(found))
        assert max(found) < 10**16
    assert Pin.model_validate({"region": REGION}).position == 0
