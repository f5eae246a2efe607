"""Films and moving lips from a prediction-style service, which is a real server that misbehaves on purpose."""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import Misconfigured, Unavailable
from penstock.generation.predictions import Predictions
from penstock.generation.provider_http import LONGEST_WORDS, ProviderService
from penstock.generation.remote_film import PredictedFilm, PredictedLipSync
from penstock.generation.steps import LipSync, Shot, VideoGenerator
from penstock.kernel.lease import LeaseLost
from penstock.media.content_type import sniff
from penstock.media.ffmpeg import AAC, H264, MP4, reading, run, writing
from penstock.media.probe import probe
from penstock.work import RetryLater, Terminal
from tests.generation.listening_reporter import Gone, ListeningReporter
from tests.generation.prediction_server import (
    TOKEN,
    Behaviour,
    PredictionServer,
    answers,
    creates_and_drops,
    drips,
    drips_headers,
    drops,
    echoes,
    floods,
    redirects,
    sends_another_part,
    speaks_no_http,
    stays_silent,
    truncates,
    understates,
)
from tests.net.loopback import stay_on_loopback

SHOT = Shot(prompt="A robot on Congress Avenue at dusk", seconds=1.0, seed=7)
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def make_film(into: Path, *, seconds: float = 1.0, sound: bool = False) -> Path:
    pictures = ["-f", "lavfi", "-i", f"testsrc2=size=64x48:rate=24:duration={seconds}"]
    tone = ["-f", "lavfi", "-i", f"sine=frequency=330:duration={seconds}", *AAC] if sound else []
    run([*pictures, *tone, *H264, *MP4, writing(into)])
    return into


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("films")
    silent, other = make_film(folder / "silent.mp4"), folder / "other.mov"
    run([*reading(silent), "-c", "copy", "-f", "mov", writing(other)])
    return {
        "silent": silent,
        "of another kind": other,
        "loud": make_film(folder / "loud.mp4", seconds=2.0, sound=True),
        "with sound": make_film(folder / "with-sound.mp4", sound=True),
    }


@pytest.fixture
def server(films: dict[str, Path]) -> Iterator[PredictionServer]:
    with PredictionServer(films["silent"].read_bytes()) as server:
        yield server


@pytest.fixture
def elsewhere(films: dict[str, Path]) -> Iterator[PredictionServer]:
    with PredictionServer(films["silent"].read_bytes()) as server:
        yield server


@pytest.fixture
def waited() -> list[float]:
    return []


@pytest.fixture
def predictions(server: PredictionServer, elsewhere: PredictionServer, waited: list[float]) -> Iterator[Predictions]:
    service = ProviderService(server.url, TOKEN, timeout=timedelta(seconds=5), trusted=[elsewhere.origin])
    yield Predictions(service, "acme/filmer", sleep=waited.append)
    service.close()


@pytest.fixture
def hasty(server: PredictionServer, waited: list[float]) -> Predictions:
    """For servers that let one wait."""
    return Predictions(
        ProviderService(server.url, TOKEN, timeout=timedelta(seconds=0.25)), "acme/filmer", sleep=waited.append
    )


# Filming


def test_a_film_is_made_once_and_is_where_it_was_asked_for(
    server: PredictionServer, predictions: Predictions, waited: list[float], tmp_path: Path
) -> None:
    film: VideoGenerator = PredictedFilm(predictions, always={"resolution": "720p"})
    looks_when_remembered: list[int] = []
    reporter = ListeningReporter(on_remember=lambda job: looks_when_remembered.append(len(server.asked("look"))))
    made = film.film(replace(SHOT, negative_prompt="rain", character="A tin robot"), tmp_path / "clip.mp4", reporter)

    (created,) = server.asked("create")
    assert created.path == "/v1/models/acme/filmer/predictions"
    assert created.json == {
        "input": {
            "prompt": "A robot on Congress Avenue at dusk\n\nCharacter: A tin robot",
            "negative_prompt": "rain",
            "duration": 1,
            "seed": 7,
            "resolution": "720p",
        }
    }
    assert (reporter.remembered, looks_when_remembered) == (["job-1"], [0])
    assert waited == [3.0, 3.0]
    assert reporter.told == sorted(reporter.told)
    assert 0 < reporter.told[0] < reporter.told[-1] <= 1
    assert (made.cost, made.metrics) == (None, {"predict_time": 12.5})
    clip = probe(tmp_path / "clip.mp4")
    assert clip.duration == pytest.approx(1.0, abs=1 / 24)
    assert clip.sound is None
    assert [file.name for file in tmp_path.iterdir()] == ["clip.mp4"]


def test_a_model_may_be_a_version_and_call_things_by_other_names(
    server: PredictionServer, predictions: Predictions, tmp_path: Path
) -> None:
    by_version = Predictions(ProviderService(server.url, TOKEN), "5c7d5dc6", sleep=lambda seconds: None)
    picture = tmp_path / "who.png"
    picture.write_bytes(PNG)
    fields = {"prompt": "text", "character": "cast", "references": "pictures", "seed": ""}
    shot = replace(SHOT, seconds=5.0, character="A tin robot", references=[picture])
    server.states = ("failed",)
    for film in (PredictedFilm(by_version, fields=fields), PredictedFilm(predictions, lengths=[8, 4, 6])):
        with pytest.raises(Unavailable):
            film.film(shot, tmp_path / "clip.mp4", ListeningReporter())
    first, second = server.asked("create")
    inline = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert first.path == "/v1/predictions"
    assert first.json["version"] == "5c7d5dc6"
    assert first.json["input"] == {"text": SHOT.prompt, "cast": "A tin robot", "pictures": [inline]}
    assert (second.json["input"]["duration"], second.json["input"]["image"]) == (6, inline)


def test_a_part_that_no_model_is_told_is_refused_by_name(predictions: Predictions) -> None:
    with pytest.raises(Misconfigured, match="is not told prompts, only character, negative_prompt"):
        PredictedFilm(predictions, fields={"prompts": "text"})


@pytest.mark.parametrize(
    ("told", "price", "cost"),
    [
        ({"cost": 0.4, "metrics": {"predict_time": 10}}, 0.01, 0.4),
        ({"metrics": {"cost": 0.3}}, None, 0.3),
        ({"metrics": {"predict_time": 12.5}}, 0.002, 0.025),
        (
            {"cost": "a lot", "metrics": {"predict_time": True, "gpu": "A100", "nan": float("nan"), "less": -1}},
            0.1,
            None,
        ),
        ({"metrics": [1]}, 0.1, None),
        ({"cost": 10**400}, None, None),
    ],
)
def test_cost_is_what_the_service_tells_or_what_its_time_costs(
    server: PredictionServer, tmp_path: Path, told: dict[str, Any], price: float | None, cost: float | None
) -> None:
    server.told, server.states = told, ("succeeded",)
    predictions = Predictions(
        ProviderService(server.url, TOKEN), "acme/filmer", price=price, sleep=lambda seconds: None
    )
    made = predictions.make({"prompt": "x"}, tmp_path / "clip.mp4", ListeningReporter())
    assert made.cost == cost
    assert all(isinstance(value, float) and value >= 0 for value in made.metrics.values())
    assert set(made.metrics) <= {"predict_time", "cost"}


# Once


def test_an_attempt_goes_on_with_what_an_earlier_one_has_begun(
    server: PredictionServer, predictions: Predictions, tmp_path: Path
) -> None:
    server.will("look", *[drops] * 4)
    film, first, second = PredictedFilm(predictions), ListeningReporter(), ListeningReporter()
    with pytest.raises(Unavailable):
        film.film(SHOT, tmp_path / "clip.mp4", first)
    film.film(replace(SHOT, job=first.remembered[0]), tmp_path / "clip.mp4", second)
    assert len(server.asked("create")) == 1
    assert (server.asked("cancel"), second.remembered) == ([], [])
    assert (tmp_path / "clip.mp4").exists()


@pytest.mark.parametrize("became", ["unknown", "failed", "canceled", "expired", "never one of theirs"])
def test_what_was_begun_and_came_to_nothing_is_made_anew(
    server: PredictionServer, predictions: Predictions, tmp_path: Path, became: str
) -> None:
    job = "job-1"
    server.states = (became,) if became in ("failed", "canceled") else ("processing",)
    with pytest.raises((Gone, Unavailable, Terminal)):
        predictions.make({"prompt": "x"}, tmp_path / "clip.mp4", ListeningReporter(until=0))
    match became:
        case "unknown":
            server.jobs.clear()
        case "expired":
            server.jobs[job].states.clear()
            server.jobs[job].states.append("succeeded")
            server.jobs[job].told = {"output": f"{server.origin}/files/old.mp4"}
            server.will("file", answers(403, b"Request has expired"))
        case "never one of theirs":
            job = "../../admin?x"
    server.states = ("starting", "succeeded")
    reporter = ListeningReporter()
    predictions.make({"prompt": "x"}, tmp_path / "clip.mp4", reporter, job=job)
    assert reporter.remembered == ["job-2"]
    assert len({seen.headers["Idempotency-Key"] for seen in server.asked("create")}) == 2
    assert not any("admin" in seen.path for seen in server.seen)


def test_a_creation_whose_answer_is_lost_is_not_paid_twice(
    server: PredictionServer, predictions: Predictions, tmp_path: Path
) -> None:
    server.will("create", creates_and_drops)
    film, reporter = PredictedFilm(predictions), ListeningReporter()
    with pytest.raises(Unavailable, match="the connection ended"):
        film.film(SHOT, tmp_path / "clip.mp4", reporter)
    assert reporter.remembered == []
    film.film(SHOT, tmp_path / "clip.mp4", reporter)
    assert (len(server.asked("create")), list(server.jobs)) == (2, ["job-1"])


def test_each_order_is_made_for_itself_and_only_once(
    server: PredictionServer, predictions: Predictions, films: dict[str, Path], song: Path, tmp_path: Path
) -> None:
    """Another take, or another project, may ask for the very same; a service must not take that for a repetition."""
    film = PredictedFilm(predictions, fields={"prompt": "prompt"})
    lip_sync = PredictedLipSync(predictions)
    server.will("create", *[answers(500, b"")] * 6)
    for order in ("p/1/1", "p/1/2", "p/1/2"):
        with pytest.raises(Unavailable):
            film.film(replace(SHOT, order=order), tmp_path / "clip.mp4", ListeningReporter())
        with pytest.raises(Unavailable):
            lip_sync.sync(films["silent"], song, tmp_path / "synced.mp4", ListeningReporter(), order=order)
    keys = [seen.headers["Idempotency-Key"] for seen in server.asked("create")]
    assert keys[2:4] == keys[4:6]
    assert len(set(keys)) == 4
    assert not any("p/1" in str(seen.json) for seen in server.asked("create"))


# Nobody waits


def test_a_prediction_without_end_is_cancelled_when_nobody_waits(
    server: PredictionServer, predictions: Predictions, tmp_path: Path
) -> None:
    server.states = ("processing",)
    with pytest.raises(Gone):
        PredictedFilm(predictions).film(SHOT, tmp_path / "clip.mp4", ListeningReporter(until=5))
    assert (len(server.asked("look")), [seen.id for seen in server.asked("cancel")]) == (5, ["job-1"])
    assert server.asked("cancel")[0].headers["Authorization"] == f"Bearer {TOKEN}"
    assert list(tmp_path.iterdir()) == []


def test_a_prediction_that_cannot_be_remembered_is_cancelled(
    server: PredictionServer, predictions: Predictions, tmp_path: Path
) -> None:
    def lost(job: str) -> None:
        raise Gone

    with pytest.raises(Gone):
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter(on_remember=lost))
    assert [seen.id for seen in server.asked("cancel")] == ["job-1"]


def test_a_prediction_that_another_goes_on_with_is_not_cancelled(
    server: PredictionServer, predictions: Predictions, tmp_path: Path
) -> None:
    """Whoever has the lease now was told of the job, and waits for it."""
    with pytest.raises(LeaseLost):
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter(until=0, error=LeaseLost("taken over")))
    assert server.asked("cancel") == []


def test_a_cancellation_that_fails_hides_nothing(
    server: PredictionServer, predictions: Predictions, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.will("cancel", answers(500, b"no"))
    with pytest.raises(Gone):
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter(until=0))
    assert "prediction job-1 could not be cancelled: 127.0.0.1 answered 500: no" in caplog.text


# What the service answers


@pytest.mark.parametrize(
    ("headers", "after"),
    [
        ({"Retry_After": "7"}, 7),
        ({"Retry_After": "0"}, 1),
        ({"Retry_After": "0.5"}, 1),
        ({"Retry_After": "86400"}, 900),
        ({"Retry_After": "nan"}, 30),
        ({"Retry_After": "soon"}, 30),
        ({}, 30),
        ({"Date": "Wed, 21 Oct 2015 07:28:00 GMT", "Retry_After": "Wed, 21 Oct 2015 07:29:30 GMT"}, 90),
        ({"Retry_After": "Wed, 21 Oct 2015 07:29:30 GMT"}, 30),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_service_is_left_alone_as_long_as_it_asks_for(
    server: PredictionServer, predictions: Predictions, tmp_path: Path, status: int, headers: dict[str, str], after: int
) -> None:
    server.will("create", answers(status, b'{"detail": "slow down"}', **headers))
    with pytest.raises(RetryLater, match=rf"^127\.0\.0\.1 answered {status}: slow down$") as later:
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    assert later.value.after == timedelta(seconds=after)


@pytest.mark.parametrize(
    "behaviour",
    [
        *(answers(status, b"oops") for status in (408, 500, 502, 504)),
        *(
            answers(200, body)
            for body in (b"<html>hello</html>", b"[]", b"{}", b'{"id": 5, "status": "starting"}', b"")
        ),
        answers(200, b'{"id": "../admin", "status": "starting"}'),
        answers(200, b"[" * 100_000),
        drops,
        speaks_no_http,
    ],
)
def test_a_service_in_trouble_is_worth_another_attempt(
    server: PredictionServer, predictions: Predictions, tmp_path: Path, behaviour: Behaviour
) -> None:
    server.will("create", behaviour)
    with pytest.raises(Unavailable, match=r"^127\.0\.0\.1"):
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    assert len(server.seen) == 1


def test_a_service_that_never_stops_talking_is_not_listened_to(
    server: PredictionServer, predictions: Predictions, tmp_path: Path
) -> None:
    server.will("create", floods)
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1: the answer is longer than \d+ bytes"):
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())


@pytest.mark.parametrize(
    ("door", "behaviour"),
    [("create", stays_silent), ("create", drips_headers), ("create", drips), ("file", drips_headers)],
)
def test_no_service_holds_a_worker_longer_than_its_timeout(
    server: PredictionServer, hasty: Predictions, tmp_path: Path, door: str, behaviour: Behaviour
) -> None:
    server.states = ("succeeded",)
    server.will(door, *[behaviour] * 4)
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1: no whole answer within 0\.25 s"):
        hasty.make({}, tmp_path / "clip.mp4", ListeningReporter())


def test_a_service_that_is_not_there_is_worth_another_attempt(tmp_path: Path) -> None:
    with PredictionServer() as gone:
        url = gone.url
    with pytest.raises(Unavailable, match="refused"):
        Predictions(ProviderService(url, TOKEN), "acme/filmer").make({}, tmp_path / "clip.mp4", ListeningReporter())


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 422])
def test_a_refusal_is_final_and_repeats_no_secret(
    server: PredictionServer, predictions: Predictions, tmp_path: Path, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.will("create", echoes(status))
    with pytest.raises(Terminal, match=rf"127\.0\.0\.1 answered {status}: bad request: Bearer …") as refused:
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    said = str(refused.value)
    assert "https://host/x?… with data:… and much more" in said
    assert len(said) < LONGEST_WORDS + 40
    for secret in (TOKEN, "pw@", "Amz", "QUJD"):
        assert secret not in said
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(predictions) + repr(vars(predictions))


def test_the_api_is_not_followed_elsewhere(
    server: PredictionServer, elsewhere: PredictionServer, predictions: Predictions, tmp_path: Path
) -> None:
    server.will("create", redirects(f"{elsewhere.url}/predictions", 307))
    with pytest.raises(Terminal, match="answered 307: over there; redirects are not followed"):
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    assert elsewhere.seen == []


def test_hiccups_while_it_waits_cost_no_attempt(
    server: PredictionServer, predictions: Predictions, waited: list[float], tmp_path: Path
) -> None:
    server.states = ("processing", "succeeded")
    server.will("look", answers(500), drops, answers(429, Retry_After="7"))
    reporter = ListeningReporter()
    predictions.make({}, tmp_path / "clip.mp4", reporter)
    assert waited == [3, 3, 3, 3, 3, 1]
    assert reporter.told == sorted(reporter.told)


def test_a_service_that_wants_a_long_rest_gets_the_worker_back(
    server: PredictionServer, predictions: Predictions, waited: list[float], tmp_path: Path
) -> None:
    server.will("look", answers(429, Retry_After="120"))
    with pytest.raises(RetryLater):
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    assert (len(waited), server.asked("cancel")) == (1, [])


@pytest.mark.parametrize(
    ("states", "error", "raised", "words"),
    [
        ("failed", "CUDA out of memory", Unavailable, "the prediction failed at 127.0.0.1: CUDA out of memory"),
        ("failed", None, Unavailable, "it does not say why"),
        ("failed", {"code": 5, "message": "model crashed"}, Unavailable, "model crashed"),
        ("failed", "NSFW content detected", Terminal, "NSFW content detected"),
        ("canceled", None, Terminal, "cancelled at 127.0.0.1"),
        ("aborted", None, Terminal, "cancelled at 127.0.0.1"),
        ("enlightened", None, Unavailable, "'enlightened'"),
    ],
)
def test_a_prediction_that_fails_is_tried_again_unless_that_is_in_vain(
    server: PredictionServer,
    predictions: Predictions,
    tmp_path: Path,
    states: str,
    error: Any,
    raised: type[Exception],
    words: str,
) -> None:
    server.states, server.told = ("starting", states), {"error": error}
    with pytest.raises(raised, match=words):
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    assert len(server.asked("create")) == 1


# The file


@pytest.fixture
def made(server: PredictionServer) -> None:
    """Predictions are made at once."""
    server.states = ("succeeded",)


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("etag", ['"the-film"', 'W/"the-film"', None])
def test_a_download_that_breaks_off_is_gone_on_with(
    server: PredictionServer, predictions: Predictions, tmp_path: Path, etag: str | None
) -> None:
    server.etag = etag
    server.will("file", truncates(0.5), truncates(0.0))
    predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    ranges = [seen.headers.get("Range") for seen in server.asked("file")]
    half = f"bytes={len(server.film) // 2}-"
    # The second one was asked for a part, answered with all of it, and broke off at once.
    assert ranges == ([None, half, None] if etag == '"the-film"' else [None, None, None])
    assert (tmp_path / "clip.mp4").read_bytes() == server.film


@pytest.mark.usefixtures("made")
def test_the_rest_of_a_file_is_taken_for_nothing_else(
    server: PredictionServer, predictions: Predictions, tmp_path: Path
) -> None:
    server.will("file", truncates(0.5), sends_another_part, answers(416))
    predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    assert len(server.asked("file")) == 4
    assert (tmp_path / "clip.mp4").read_bytes() == server.film


@pytest.mark.usefixtures("made")
def test_the_rest_of_a_file_is_joined_to_its_beginning(
    server: PredictionServer, predictions: Predictions, tmp_path: Path
) -> None:
    server.will("file", truncates(0.7))
    predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    assert [seen.headers.get("Range") for seen in server.asked("file")] == [
        None,
        f"bytes={int(len(server.film) * 0.7)}-",
    ]
    assert (tmp_path / "clip.mp4").read_bytes() == server.film


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("behaviour", [truncates(), drops, answers(500), answers(200)])
def test_a_file_that_never_comes_whole_is_worth_another_attempt(
    server: PredictionServer, predictions: Predictions, tmp_path: Path, behaviour: Behaviour
) -> None:
    server.will("file", *[behaviour] * 10)
    with pytest.raises(Unavailable, match=r"^127\.0\.0\.1"):
        PredictedFilm(predictions).film(SHOT, tmp_path / "clip.mp4", ListeningReporter())
    assert len(server.asked("file")) == 4
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize(
    "behaviour",
    [
        understates,
        answers(200, b"<!doctype html><html><body>Sign in</body></html>", Content_Type="video/mp4"),
        answers(200, b'{"error": "not ready"}', Content_Type="video/mp4"),
        answers(200, PNG, Content_Type="video/mp4"),
    ],
    ids=["half", "page", "json", "picture"],
)
def test_a_file_that_is_no_sound_film_never_gets_a_place(
    server: PredictionServer, predictions: Predictions, tmp_path: Path, behaviour: Behaviour
) -> None:
    server.will("file", behaviour)
    with pytest.raises(Unavailable, match=r"what 127\.0\.0\.1 has made cannot be used: "):
        PredictedFilm(predictions).film(SHOT, tmp_path / "clip.mp4", ListeningReporter())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize(("behaviour", "taken"), [(None, 0), (floods, 200_000)], ids=["told", "untold"])
def test_a_file_that_is_too_large_is_refused_before_it_fills_the_disk(
    server: PredictionServer, tmp_path: Path, behaviour: Behaviour | None, taken: int
) -> None:
    predictions = Predictions(ProviderService(server.url, TOKEN), "acme/filmer", most_bytes=1000)
    if behaviour:
        server.will("file", behaviour)
    with pytest.raises(Terminal, match="at most 1000 are taken"):
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    assert (tmp_path / "clip.mp4").stat().st_size <= taken
    assert len(server.asked("file")) == 1


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("error", [Gone(), Unavailable("the store is away"), Terminal("not wanted")])
def test_the_desk_hears_of_a_slow_download_and_can_end_it(
    server: PredictionServer, predictions: Predictions, tmp_path: Path, error: BaseException
) -> None:
    server.will("file", *[drips] * 4)
    for job in (None, "job-1"):
        with pytest.raises(type(error)) as raised:
            predictions.make({}, tmp_path / "clip.mp4", ListeningReporter(until=3, error=error), job=job)
        assert raised.value is error
    assert (len(server.asked("create")), len(server.asked("file")), server.asked("cancel")) == (1, 2, [])


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("status", [302, 308])
def test_a_file_may_be_elsewhere_and_the_token_stays_here(
    server: PredictionServer, elsewhere: PredictionServer, predictions: Predictions, tmp_path: Path, status: int
) -> None:
    server.will("file", redirects("/files/moved.mp4"), redirects(f"{elsewhere.origin}/files/there.mp4", status))
    predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    assert [seen.path for seen in elsewhere.seen] == ["/files/there.mp4"]
    assert TOKEN not in str(elsewhere.seen[0].headers)
    assert all(seen.headers["Authorization"] == f"Bearer {TOKEN}" for seen in server.seen)
    assert (tmp_path / "clip.mp4").read_bytes() == server.film


@pytest.mark.usefixtures("made")
def test_an_output_on_another_host_is_fetched_without_the_token(
    server: PredictionServer, elsewhere: PredictionServer, predictions: Predictions, tmp_path: Path
) -> None:
    server.told = {"output": {"video": f"{elsewhere.origin}/files/there.mp4?signature=x"}}
    predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    assert [(seen.path, "Authorization" in seen.headers) for seen in elsewhere.seen] == [
        ("/files/there.mp4?signature=x", False)
    ]


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1/film.mp4",
        "data:video/mp4;base64,QUJD",
        "http://me:pw@127.0.0.1/film.mp4",
        "https:///film.mp4",
        "http://127.0.0.1:99999/film.mp4",
        "http://127.0.0.1/a film.mp4",
        "http://[::1/film.mp4",
    ],
)
@pytest.mark.parametrize("how", ["named", "redirected"])
def test_a_file_is_fetched_over_http_and_nothing_else(
    server: PredictionServer, predictions: Predictions, tmp_path: Path, url: str, how: str
) -> None:
    if how == "named":
        server.told = {"output": url}
    else:
        server.will("file", redirects(url))
    with pytest.raises(Terminal, match=r"127\.0\.0\.1 names a file whose URL ") as refused:
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    assert "pw" not in str(refused.value)
    assert len(server.asked("file")) == (how == "redirected")


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("how", ["named", "redirected"])
@pytest.mark.parametrize("where", ["another port", "by name", "metadata", "mapped", "decimal", "private", "plain"])
def test_no_service_leads_a_worker_to_private_addresses(
    server: PredictionServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, where: str
) -> None:
    stay_on_loopback(monkeypatch)
    with PredictionServer() as inside:
        url = {
            "another port": f"{inside.origin}/files/secret.mp4",
            "by name": f"{inside.origin}/files/secret.mp4".replace("127.0.0.1", "localhost"),
            "metadata": "http://169.254.169.254/latest/meta-data/iam/security-credentials/",
            "mapped": "https://[::ffff:127.0.0.1]/film.mp4",
            "decimal": f"{inside.origin}/files/secret.mp4".replace("127.0.0.1", "2130706433"),
            "private": "https://10.0.0.1/film.mp4",
            "plain": "http://example.com/film.mp4",
        }[where]
        if how == "named":
            server.told = {"output": url}
        else:
            server.will("file", redirects(url))
        predictions = Predictions(ProviderService(server.url, TOKEN), "acme/filmer", sleep=lambda seconds: None)
        with pytest.raises(Terminal, match=r"127\.0\.0\.1 names a file whose URL ") as refused:
            predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
        assert "secret" not in str(refused.value)
        assert inside.seen == []
    assert len(server.asked("file")) == (how == "redirected")


@pytest.mark.usefixtures("made")
def test_a_file_that_moves_without_end_is_given_up(
    server: PredictionServer, predictions: Predictions, tmp_path: Path
) -> None:
    server.will("file", *[redirects("/files/again.mp4")] * 20)
    with pytest.raises(Terminal, match="redirects more than 5 times"):
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())
    assert len(server.asked("file")) == 6


def test_what_is_named_over_tls_is_not_fetched_without_it(server: PredictionServer) -> None:
    service = ProviderService("https://127.0.0.1:1/v1", TOKEN)
    with pytest.raises(Terminal, match="over TLS"), service.open(f"{server.origin}/files/film.mp4", {}):
        pass
    assert server.seen == []


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("output", [None, [], {}, 5, [None, 3], ""])
def test_a_prediction_without_a_file_is_worth_another_attempt(
    server: PredictionServer, predictions: Predictions, tmp_path: Path, output: Any
) -> None:
    server.told = {"output": output}
    with pytest.raises(Unavailable, match="names no file"):
        predictions.make({}, tmp_path / "clip.mp4", ListeningReporter())


# As ordered


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize(
    ("film", "seconds"),
    [("loud", 1.5), ("silent", 1.25), ("silent", 0.5), ("with sound", 1.0), ("of another kind", 1.0)],
)
def test_a_film_is_as_long_as_was_ordered_and_silent_whatever_the_service_made(
    server: PredictionServer,
    predictions: Predictions,
    films: dict[str, Path],
    tmp_path: Path,
    film: str,
    seconds: float,
) -> None:
    server.film = films[film].read_bytes()
    PredictedFilm(predictions).film(replace(SHOT, seconds=seconds), tmp_path / "clip.mp4", ListeningReporter())
    clip = probe(tmp_path / "clip.mp4")
    assert clip.duration == pytest.approx(seconds, abs=1 / 24)
    assert clip.sound is None
    assert sniff((tmp_path / "clip.mp4").read_bytes()) == "video/mp4"
    assert [file.name for file in tmp_path.iterdir()] == ["clip.mp4"]


@pytest.mark.usefixtures("made")
def test_a_film_that_is_far_too_short_is_none(
    server: PredictionServer, predictions: Predictions, tmp_path: Path
) -> None:
    with pytest.raises(Unavailable, match=r"8 s were ordered and 1\.00 s were made"):
        PredictedFilm(predictions).film(replace(SHOT, seconds=8.0), tmp_path / "clip.mp4", ListeningReporter())
    assert list(tmp_path.iterdir()) == []


# Lips


@pytest.fixture
def song(films: dict[str, Path], tmp_path: Path) -> Path:
    folder = tmp_path / "sounds"
    folder.mkdir()
    run(["-f", "lavfi", "-i", "sine=frequency=440:duration=1", "-f", "mp3", writing(folder / "song.mp3")])
    return folder / "song.mp3"


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("film", ["with sound", "loud", "silent"])
def test_a_clip_comes_back_as_long_as_before_and_with_sound(
    server: PredictionServer, predictions: Predictions, films: dict[str, Path], song: Path, tmp_path: Path, film: str
) -> None:
    server.film = films[film].read_bytes()
    lip_sync: LipSync = PredictedLipSync(predictions)
    reporter = ListeningReporter()
    lip_sync.sync(films["silent"], song, tmp_path / "synced.mp4", reporter)
    synced = probe(tmp_path / "synced.mp4")
    assert synced.duration == pytest.approx(1.0, abs=1 / 24)
    assert synced.sound is not None
    assert synced.sound.duration == pytest.approx(1.0, abs=0.1)
    sent = server.asked("create")[0].json["input"]
    assert set(sent) == {"video", "audio"}
    assert sent["video"] == f"data:video/mp4;base64,{base64.b64encode(films['silent'].read_bytes()).decode()}"
    assert sent["audio"].startswith("data:audio/mpeg;base64,")
    assert reporter.remembered == ["job-1"]


@pytest.mark.usefixtures("made")
def test_lips_are_gone_on_with_as_well(
    server: PredictionServer, predictions: Predictions, films: dict[str, Path], song: Path, tmp_path: Path
) -> None:
    server.film = films["with sound"].read_bytes()
    lip_sync = PredictedLipSync(predictions, fields={"clip": "face", "audio": "voice", "words": "text"})
    for job in (None, "job-1"):
        lip_sync.sync(films["silent"], song, tmp_path / "synced.mp4", ListeningReporter(), words="la la", job=job)
    (created,) = server.asked("create")
    assert set(created.json["input"]) == {"face", "voice", "text"}


def test_a_file_that_is_too_large_to_send_is_refused_before_anything_is_paid(
    server: PredictionServer, predictions: Predictions, films: dict[str, Path], song: Path, tmp_path: Path
) -> None:
    lip_sync = PredictedLipSync(predictions, most_inline=1000)
    with pytest.raises(Terminal, match=r"silent\.mp4 has \d+ bytes, and a service is sent at most 1000"):
        lip_sync.sync(films["silent"], song, tmp_path / "synced.mp4", ListeningReporter())
    assert server.seen == []


# Configured


@pytest.mark.parametrize(
    ("url", "token", "words"),
    [
        ("ftp://host/v1", TOKEN, "begins with 'ftp'"),
        ("host/v1", TOKEN, "begins with ''"),
        ("https:///v1", TOKEN, "names no host"),
        (f"https://u:{TOKEN}@host/v1", TOKEN, "holds a user or a password"),
        (f"https://host/v1?key={TOKEN}", TOKEN, "holds a query"),
        ("https://host:port/", TOKEN, "cannot be read"),
        ("https://host/v1", "", "token of a service is empty"),
        ("https://host/v1", f"{TOKEN}\n", "token of a service is empty, or holds a space"),
    ],
)
def test_a_service_that_cannot_be_spoken_to_is_told_at_once_and_without_the_token(
    url: str, token: str, words: str
) -> None:
    with pytest.raises(Misconfigured, match=words) as wrong:
        ProviderService(url, token)
    assert TOKEN not in str(wrong.value)


def test_a_model_has_a_name() -> None:
    with pytest.raises(Misconfigured, match="'a model' is no model; write owner/name"):
        Predictions(ProviderService("https://host/v1", TOKEN), "a model")
