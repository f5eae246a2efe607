"""While a provider is left alone another one makes what was ordered, and says so; then the first is back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from penstock import FrozenClock
from penstock.domains.musicvideo.film_studio import film_providers
from penstock.domains.musicvideo.options import MusicVideoOptions
from penstock.errors import Misconfigured, Unavailable
from penstock.generation.asset_steps import AssetOrder, PictureMaker
from penstock.generation.circuit_breaker import FAILURES, REST, ProviderResting
from penstock.generation.remote_providers import RemoteStep, remote_generator, remote_modeller, remote_picture
from penstock.generation.steps import Made, Shot, StepReporter
from penstock.work import RetryLater, Terminal
from tests.generation.listening_reporter import ListeningReporter
from tests.generation.prediction_server import TOKEN, PredictionServer, answers
from tests.media.glbs import glb, tetrahedron

PICTURE = remote_picture("ADS_PICTURE")
ORDER = AssetOrder("prop", "A lamp", seed=1)


class Painter:
    """One that is embedded."""

    name, version = "penstock.painter", "3"

    def __init__(self) -> None:
        self.orders: list[AssetOrder] = []

    def draw(self, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        self.orders.append(order)
        into.write_bytes(b"painted here")
        return Made(metrics={"width": 1})


def drawn() -> bytes:
    into = BytesIO()
    Image.radial_gradient("L").convert("RGB").save(into, "PNG")
    return into.getvalue()


@pytest.fixture
def first() -> Iterator[PredictionServer]:
    with _server() as server:
        yield server


@pytest.fixture
def second() -> Iterator[PredictionServer]:
    with _server() as server:
        yield server


def _server() -> PredictionServer:
    server = PredictionServer(drawn())
    server.type, server.ending, server.states = "image/png", ".png", ("succeeded",)
    return server


@pytest.fixture
def painter() -> Painter:
    return Painter()


Chosen = Callable[[str], PictureMaker]


@pytest.fixture
def chosen(first: PredictionServer, second: PredictionServer, painter: Painter, clock: FrozenClock) -> Chosen:
    """The provider that settings give, with this fallback."""

    def provider(fallback: str) -> PictureMaker:
        values = {"URL": first.url, "TOKEN": TOKEN, "MODEL": "acme/artist", "FALLBACK": fallback}
        if "_2" in fallback:
            values |= {"2_URL": second.url, "2_TOKEN": TOKEN, "2_MODEL": "other/artist", "2_PRICE": "0.01"}
        settings = {f"ADS_PICTURE_{name}": value for name, value in values.items()}
        found = PICTURE.provider(settings.get, clock=clock, embedded=painter)
        assert found is not None
        return found

    return provider


def break_down(server: PredictionServer, maker: PictureMaker, into: Path) -> None:
    """Let it fail until it is left alone."""
    server.will("create", *[answers(500)] * FAILURES)
    for _ in range(FAILURES):
        with pytest.raises(Unavailable):
            maker.draw(ORDER, into, ListeningReporter())


def test_while_the_first_is_left_alone_the_embedded_one_draws_and_then_the_first_again(
    chosen: Chosen, first: PredictionServer, painter: Painter, clock: FrozenClock, tmp_path: Path
) -> None:
    maker, into = chosen("embedded"), tmp_path / "concept.png"
    made = maker.draw(ORDER, into, ListeningReporter())
    assert (made.metrics["model"], "fallback" in made.metrics) == ("acme/artist", False)
    break_down(first, maker, into)
    assert painter.orders == []
    reporter = ListeningReporter()
    made = maker.draw(replace(ORDER, job="job-9"), into, reporter)
    told = {"provider": "embedded", "model": "penstock.painter 3", "fallback": True}
    assert made == Made(None, {"width": 1, **told})
    assert (into.read_bytes(), painter.orders, reporter.remembered) == (b"painted here", [ORDER], [])
    clock.advance(REST - timedelta(seconds=1))
    maker.draw(ORDER, into, ListeningReporter())
    asked = len(first.seen)
    clock.advance(timedelta(seconds=1))
    made = maker.draw(ORDER, into, ListeningReporter())
    assert (made.metrics["model"], "fallback" in made.metrics) == ("acme/artist", False)
    assert (len(painter.orders), len(first.seen) > asked) == (2, True)


def test_a_call_that_sees_that_it_still_fails_costs_an_attempt_and_the_next_falls_back(
    chosen: Chosen, first: PredictionServer, painter: Painter, clock: FrozenClock, tmp_path: Path
) -> None:
    maker, into = chosen("embedded"), tmp_path / "concept.png"
    break_down(first, maker, into)
    clock.advance(REST)
    first.will("create", answers(500))
    with pytest.raises(Unavailable):
        maker.draw(ORDER, into, ListeningReporter())
    maker.draw(ORDER, into, ListeningReporter())
    assert len(painter.orders) == 1


def test_without_a_fallback_it_waits(
    first: PredictionServer, painter: Painter, clock: FrozenClock, tmp_path: Path
) -> None:
    values = {"URL": first.url, "TOKEN": TOKEN, "MODEL": "acme/artist"}
    maker = PICTURE.provider({f"ADS_PICTURE_{n}": v for n, v in values.items()}.get, clock=clock, embedded=painter)
    assert maker is not None
    break_down(first, maker, tmp_path / "concept.png")
    with pytest.raises(ProviderResting):
        maker.draw(ORDER, tmp_path / "concept.png", ListeningReporter())
    assert painter.orders == []


def test_a_second_service_draws_and_what_it_has_begun_is_gone_on_with_there(
    chosen: Chosen,
    first: PredictionServer,
    second: PredictionServer,
    clock: FrozenClock,
    tmp_path: Path,
) -> None:
    """One order, one prediction at the second, though the attempt dies and the first is back by then."""
    maker, into = chosen("ADS_PICTURE_2"), tmp_path / "concept.png"
    break_down(first, maker, into)
    second.will("file", answers(429, Retry_After="120"))
    reporter = ListeningReporter()
    with pytest.raises(RetryLater):
        maker.draw(replace(ORDER, job="job-9"), into, reporter)
    assert reporter.remembered == ["ADS_PICTURE_2:job-1"]
    assert [seen.door for seen in second.seen] == ["create", "file"], "what the first has begun is none of its business"
    clock.advance(REST)
    asked = len(first.seen)
    made = maker.draw(replace(ORDER, job=reporter.remembered[0]), into, ListeningReporter())
    assert (len(second.asked("create")), len(first.seen)) == (1, asked)
    assert made.cost == 0.125
    assert {name: made.metrics[name] for name in ("provider", "model", "fallback")} == {
        "provider": "127.0.0.1",
        "model": "other/artist",
        "fallback": True,
    }


def test_what_was_begun_at_the_first_is_gone_on_with_there(
    chosen: Chosen, first: PredictionServer, second: PredictionServer, tmp_path: Path
) -> None:
    maker, into = chosen("ADS_PICTURE_2"), tmp_path / "concept.png"
    first.will("file", *[answers(500)] * 4)
    reporter = ListeningReporter()
    with pytest.raises(Unavailable):
        maker.draw(ORDER, into, reporter)
    maker.draw(replace(ORDER, job=reporter.remembered[0]), into, reporter)
    assert (reporter.remembered, len(first.asked("create")), second.seen) == (["job-1"], 1, [])


def test_those_who_stand_in_are_asked_in_order(
    chosen: Chosen, first: PredictionServer, second: PredictionServer, painter: Painter, tmp_path: Path
) -> None:
    maker, into = chosen("ADS_PICTURE_2, embedded"), tmp_path / "concept.png"
    break_down(first, maker, into)
    break_down(second, maker, into)
    made = maker.draw(replace(ORDER, job="ADS_PICTURE_2:job-1"), into, ListeningReporter())
    assert made.metrics["provider"] == "embedded"
    assert painter.orders == [ORDER]


def test_if_all_rest_it_waits_for_the_first_that_may_be_asked(
    chosen: Chosen, first: PredictionServer, second: PredictionServer, clock: FrozenClock, tmp_path: Path
) -> None:
    maker, into = chosen("ADS_PICTURE_2"), tmp_path / "concept.png"
    break_down(first, maker, into)
    clock.advance(timedelta(seconds=40))
    break_down(second, maker, into)
    with pytest.raises(ProviderResting) as rests:
        maker.draw(ORDER, into, ListeningReporter())
    assert rests.value.after <= timedelta(seconds=20 + FAILURES + 1)
    assert (len(first.seen), len(second.seen)) == (FAILURES, FAILURES)


def test_it_goes_by_the_name_of_the_first(chosen: Chosen) -> None:
    maker = chosen("embedded")
    assert (maker.name, maker.version) == ("127.0.0.1", "acme/artist")


def test_a_mesh_has_a_fallback_too(clock: FrozenClock, tmp_path: Path) -> None:
    class Sculptor:
        name, version = "penstock.sculptor", "1"

        def model(self, picture: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
            into.write_bytes(glb(*tetrahedron()))
            return Made()

    step = remote_modeller("ADS_MODELLER")
    (tmp_path / "refined.png").write_bytes(drawn())
    with _server() as server:
        values = {"URL": server.url, "TOKEN": TOKEN, "MODEL": "acme/sculptor", "FALLBACK": "embedded"}
        settings = {f"ADS_MODELLER_{name}": value for name, value in values.items()}
        modeller = step.provider(settings.get, clock=clock, embedded=Sculptor())
        assert modeller is not None
        server.will("create", *[answers(500)] * FAILURES)
        for _ in range(FAILURES):
            with pytest.raises(Unavailable):
                modeller.model(tmp_path / "refined.png", ORDER, tmp_path / "mesh.glb", ListeningReporter())
        made = modeller.model(tmp_path / "refined.png", ORDER, tmp_path / "mesh.glb", ListeningReporter())
    assert made.metrics == {"provider": "embedded", "model": "penstock.sculptor 1", "fallback": True}


def test_music_videos_have_fallbacks_too(clock: FrozenClock, tmp_path: Path) -> None:
    with PredictionServer() as server:
        values = {"URL": server.url, "TOKEN": TOKEN, "MODEL": "acme/filmer", "FALLBACK": "embedded"}
        settings = {f"MV_{who}_{name}": value for name, value in values.items() for who in ("GENERATOR", "LIPSYNC")}
        providers = film_providers(settings.get, MusicVideoOptions(size=(64, 36), fps=6), clock=clock)
        server.will("create", *[answers(500)] * 2 * FAILURES)
        shot, clip, reporter = Shot("rain", 0.5, 1), tmp_path / "clip.mp4", ListeningReporter()
        for _ in range(FAILURES):
            with pytest.raises(Unavailable):
                providers.generator.film(shot, clip, reporter)
        made = providers.generator.film(shot, clip, reporter)
        assert (made.metrics["provider"], made.metrics["model"]) == ("embedded", "ProceduralFilmer")
        assert made.metrics["fallback"] is True
        assert clip.stat().st_size
        for _ in range(FAILURES):
            with pytest.raises(Unavailable):
                providers.lip_sync.sync(clip, clip, tmp_path / "synced.mp4", reporter)
        with pytest.raises(Terminal):  # there is no sound in it, as only the embedded one finds out
            providers.lip_sync.sync(clip, clip, tmp_path / "synced.mp4", reporter)


# Settings


def settings(**more: str) -> dict[str, str]:
    values = {"URL": "https://host/v1", "TOKEN": TOKEN, "MODEL": "acme/model", **more}
    return {f"ADS_PICTURE_{name}": value for name, value in values.items()}


OTHER = {"_2_URL": "https://other/v1", "_2_TOKEN": TOKEN, "_2_MODEL": "acme/other"}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            settings(FALLBACK="somebody"),
            "ADS_PICTURE_FALLBACK='somebody' is no fallback; write embedded or ADS_PICTURE_2",
        ),
        (settings(FALLBACK="ADS_PICTURE"), "is no fallback"),
        (settings(FALLBACK="ADS_PICTURE_2"), "ADS_PICTURE_2_URL is not set; set what it needs"),
        (
            {**settings(FALLBACK="ADS_PICTURE_2"), "ADS_PICTURE_2_URL": "https://other/v1"},
            "ADS_PICTURE_2_URL is set and ADS_PICTURE_2_TOKEN, ADS_PICTURE_2_MODEL is not",
        ),
        (
            {**settings(), **{f"ADS_PICTURE{name}": value for name, value in OTHER.items()}},
            "ADS_PICTURE_FALLBACK does not name ADS_PICTURE_2",
        ),
        (
            {f"ADS_PICTURE{name}": value for name, value in OTHER.items()},
            "is set and ADS_PICTURE_URL is not; a second one needs a first",
        ),
        ({"ADS_PICTURE_FALLBACK": "embedded"}, "ADS_PICTURE_FALLBACK is set and ADS_PICTURE_URL, "),
    ],
)
def test_a_fallback_that_cannot_be_is_refused_by_name(values: dict[str, str], words: str, painter: Painter) -> None:
    with pytest.raises(Misconfigured, match=words) as wrong:
        PICTURE.provider(values.get, embedded=painter)
    assert TOKEN not in str(wrong.value)


def test_who_has_no_embedded_one_cannot_fall_back_to_it() -> None:
    with pytest.raises(Misconfigured, match="is no fallback; write ADS_PICTURE_2"):
        PICTURE.provider(settings(FALLBACK="embedded").get)


@pytest.mark.parametrize("step", [PICTURE, remote_generator("ADS_GENERATOR")], ids=["picture", "film"])
def test_every_setting_of_a_second_provider_is_listed(step: RemoteStep[Any]) -> None:
    listed = {setting.variable.removeprefix(step.prefix): setting for setting in step.settings}
    seconds = {name.removeprefix("_2") for name in listed if name.startswith("_2_")}
    assert seconds == {name for name in listed if not name.startswith("_2_")} - {"_FALLBACK"}
    assert {name for name, setting in listed.items() if setting.secret} == {"_TOKEN", "_2_TOKEN"}
    assert f"{step.prefix}_2" in listed["_FALLBACK"].help
