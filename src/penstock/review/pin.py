"""Pins: where in a film, a picture, a model or a curve a note is."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

_WEEK = 7 * 24 * 3600 * 1000
_ROUNDED = 1e-9
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Coordinate = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]


class _Exact(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PinnedRegion(_Exact):
    """A part of the picture, in fractions of its width and height, from its upper left corner."""

    x: Fraction
    y: Fraction
    width: Fraction
    height: Fraction

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.x + self.width > 1 + _ROUNDED or self.y + self.height > 1 + _ROUNDED:
            raise ValueError("the region lies partly outside the picture; x + width and y + height are at most 1")
        return self


class PinnedCamera(_Exact):
    """From where a model was looked at."""

    position: tuple[Coordinate, Coordinate, Coordinate]
    target: tuple[Coordinate, Coordinate, Coordinate]


class PinnedPoint(_Exact):
    """A point on a model, in its own coordinates."""

    x: Coordinate
    y: Coordinate
    z: Coordinate
    camera: PinnedCamera | None = None


class Pin(_Exact):
    """Where a note is. A film has a time, perhaps with its frame and a region; a picture a region; a curve a place."""

    time_ms: Annotated[int, Field(ge=0, le=_WEEK)] | None = Field(
        default=None, description="Milliseconds from the beginning."
    )
    end_ms: Annotated[int, Field(ge=0, le=_WEEK)] | None = Field(
        default=None, description="If it is about a span of time."
    )
    frame: Annotated[int, Field(ge=0, le=100_000_000)] | None = Field(default=None, description="From 0.")
    region: PinnedRegion | None = None
    point: PinnedPoint | None = None
    wavelength: Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)] | None = Field(
        default=None, description="In Å."
    )
    julian_date: Annotated[float, Field(ge=0, le=1e8, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _is_somewhere(self) -> Self:
        given = {name for name in type(self).model_fields if getattr(self, name) is not None}
        if not given:
            raise ValueError("a pin says where it is; leave it out for a note on the whole")
        if "end_ms" in given and (self.time_ms is None or (self.end_ms or 0) < self.time_ms):
            raise ValueError("a span of time begins at time_ms and does not end before it")
        alone = given & {"point", "wavelength", "julian_date"}
        if alone and len(given) > 1:
            raise ValueError(f"{sorted(alone)[0]} stands alone; a note is at one place")
        return self

    @property
    def position(self) -> int:
        """Its place among the pins of one file, for lists in that order: by time, frame, wavelength or date.

        What has none, as a region of a picture has not, comes first.
        """
        if self.time_ms is not None:
            return self.time_ms * 1000
        if self.frame is not None:
            return self.frame * 1000
        if self.wavelength is not None:
            return round(self.wavelength * 1000)
        return 0 if self.julian_date is None else round(self.julian_date * 86_400_000)
