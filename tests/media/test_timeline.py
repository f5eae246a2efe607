"""Where clips lie in a cut, by frames."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.media.timeline import Place, timeline


@given(durations=st.lists(st.floats(0.2, 20), min_size=1, max_size=40), fps=st.sampled_from([12, 24, 30]))
def test_nothing_drifts_however_many_there_are(durations: list[float], fps: int) -> None:
    places = timeline(durations, fps=fps, fade=0.5)
    for n, place in enumerate(places):
        assert place.first / fps == pytest.approx(sum(durations[:n]), abs=0.51 / fps)
    end = places[-1].first + places[-1].frames
    assert end / fps == pytest.approx(sum(durations), abs=0.51 / fps)
    assert [before.first + before.frames for before in places[:-1]] == [place.first for place in places[1:]]


@given(durations=st.lists(st.floats(0.001, 3), min_size=1, max_size=12), fade=st.floats(0, 3))
def test_a_fade_is_never_longer_than_half_a_clip(durations: list[float], fade: float) -> None:
    places = timeline(durations, fps=24, fade=fade)
    assert places[-1].fade == 0
    for place, following in pairwise(places):
        assert place.fade != 1
        assert 0 <= place.fade <= min(place.frames, following.frames) / 2
        assert place.fade <= round(fade * 24)


def test_clips_of_a_blink_are_seen() -> None:
    assert timeline([0.01, 0.01], fps=12, fade=0.5) == [Place(0, 1, 0), Place(1, 1, 0)]
