"""Lips that move: open where it is loud, closed where it is silent, in step with the sound, on the filmed face."""

from __future__ import annotations

import struct
import sys
import wave
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.generation.steps import LipSync, Shot
from penstock.media.ffmpeg import H264, reading, run, writing
from penstock.media.frame_encoder import encode
from penstock.media.probe import probe
from penstock.studio.faces import _ID, Faces, note_faces, noted_faces
from penstock.studio.filmer import ProceduralFilmer
from penstock.studio.lip_sync import MouthLipSync
from penstock.studio.mouth import CLOSED, PHONES, Mouth
from penstock.studio.phones import guessed, spoken
from penstock.studio.voice import RATE, heard, samples
from penstock.work import Terminal
from tests.generation.listening_reporter import Gone, ListeningReporter
from tests.media.films import grey_frames
from tests.media.films import samples as sound_of
from tests.media.processes import children

WIDTH, HEIGHT, FPS, SECONDS = 160, 90, 12, 1.5
LIPS: LipSync = MouthLipSync()
SAMPLES = Path(__file__).parents[3] / "shared" / "data" / "media"
WORDS = "Hello my friends, we sing about the moon"

Pixels = NDArray[Any]


def audio(into: Path, loud: Sequence[tuple[float, float]], *, seconds: float = SECONDS, hertz: float = 600.0) -> Path:
    """A WAV that is silent but for some parts."""
    time = np.arange(round(seconds * RATE)) / RATE
    sings = sum(((time >= start) & (time < stop)).astype(float) for start, stop in loud)
    return _write(into, 0.4 * np.sin(2 * np.pi * hertz * time) * sings)


def _write(into: Path, sound: Any) -> Path:
    with wave.open(str(into), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.asarray(sound).clip(-1, 1) * 32767).astype("<i2").tobytes())
    return into


def frames(path: Path) -> list[Pixels]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]


@pytest.fixture(scope="module", params=["a robot", "a woman", "a cat"])
def clip(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody's face."""
    into = tmp_path_factory.mktemp("clips") / "clip.mp4"
    shot = Shot("close-up in the hills at noon, drift", SECONDS, seed=1, character=request.param)
    ProceduralFilmer(WIDTH, HEIGHT, FPS).film(shot, into, ListeningReporter())
    return into


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("clips") / "robot.mp4"
    shot = Shot("close-up of a robot at sunset", SECONDS, seed=1)
    ProceduralFilmer(WIDTH, HEIGHT, FPS).film(shot, into, ListeningReporter())
    return into


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody who says the words."""
    hibari = pytest.importorskip("hibari")
    said = np.asarray(hibari.Hibari()(WORDS, seed=1)).ravel()
    at = np.arange(round(len(said) * RATE / 24_000)) * 24_000 / RATE
    return _write(tmp_path_factory.mktemp("speech") / "said.wav", np.interp(at, np.arange(len(said)), said))


def around_the_mouth(before: Sequence[Pixels], after: Sequence[Pixels], faces: Faces) -> list[float]:
    """How much of the mouth has changed, frame by frame."""
    changed = []
    for one, other, face in zip(before, after, faces.frames, strict=True):
        half = round(0.12 * face.head)
        y, x = round(face.y), round(face.x)
        part = (slice(y - half, y + half), slice(x - half, x + half))
        changed.append(float(np.abs(one[part] - other[part]).mean()))
    return changed


def test_the_mouth_is_closed_in_silence_and_open_where_it_is_loud(tmp_path: Path, clip: Path) -> None:
    into = tmp_path / "sung.mp4"
    made = LIPS.sync(clip, audio(tmp_path / "a.wav", [(0.5, 1.0)]), into, ListeningReporter())
    faces = noted_faces(clip)
    assert faces is not None
    changed = around_the_mouth(frames(clip), frames(into), faces)
    # The frames at the edges of the sound hear both.
    silent, loud = [*changed[:5], *changed[13:]], changed[7:11]
    assert max(silent) < 9
    assert min(loud) > 22
    assert made.metrics["mouth"] == "loudness"
    assert 6 <= made.metrics["open"] <= 9


def test_the_mouth_follows_a_sound_that_comes_later(tmp_path: Path, robot: Path) -> None:
    faces = noted_faces(robot)
    assert faces is not None
    opened = []
    for start in (0.25, 0.75):
        into = tmp_path / f"{start}.mp4"
        LIPS.sync(robot, audio(tmp_path / f"{start}.wav", [(start, start + 0.5)]), into, ListeningReporter())
        changed = around_the_mouth(frames(robot), frames(into), faces)
        opened.append([n for n, much in enumerate(changed) if much > 12])
    assert opened[0]
    assert [n + 6 for n in opened[0]] == opened[1]
    assert abs(opened[0][0] - 0.25 * FPS) <= 1
    assert abs(opened[0][-1] - 0.75 * FPS) <= 1


def test_only_the_mouth_is_painted(tmp_path: Path, robot: Path) -> None:
    into = tmp_path / "sung.mp4"
    LIPS.sync(robot, audio(tmp_path / "a.wav", [(0.0, SECONDS)]), into, ListeningReporter())
    for before, after in zip(frames(robot), frames(into), strict=True):
        changed = np.abs(before - after).max(axis=2) > 45
        assert changed.any()
        assert changed.mean() < 0.06
        assert np.abs(before - after).mean() < 4


@pytest.mark.parametrize("seconds", [0.4, SECONDS, 4.0])
def test_a_film_stays_as_long_as_it_was_and_has_the_sound(tmp_path: Path, robot: Path, seconds: float) -> None:
    into = tmp_path / "sung.mp4"
    LIPS.sync(robot, audio(tmp_path / "a.wav", [(0.0, seconds)], seconds=seconds), into, ListeningReporter())
    found = probe(into)
    assert found.picture is not None
    assert found.sound is not None
    assert found.picture.frames == round(SECONDS * FPS)
    assert abs(found.duration - SECONDS) <= 1 / FPS
    assert abs(found.sound.duration - SECONDS) <= 1 / FPS
    heard_there = sound_of(into)
    level = [float(np.abs(part).mean()) for part in (heard_there[4000:16000], heard_there[-16000:-6000])]
    assert level[0] > 0.1
    assert (level[1] > 0.1) == (seconds >= SECONDS)


def test_in_a_film_without_a_face_a_small_singer_does_it(tmp_path: Path) -> None:
    foreign, into = tmp_path / "foreign.mp4", tmp_path / "sung.mp4"
    encode(grey_frames([90] * 18), foreign, width=WIDTH, height=HEIGHT, fps=FPS)
    LIPS.sync(foreign, audio(tmp_path / "a.wav", [(0.5, 1.0)]), into, ListeningReporter())
    before, after = frames(foreign), frames(into)
    for one, other in zip(before, after, strict=True):
        assert np.abs(one[:40] - other[:40]).mean() < 4
        assert np.abs(one[-30:, -30:] - other[-30:, -30:]).mean() > 25
    silent, loud = after[2][-30:, -30:], after[9][-30:, -30:]
    assert np.abs(after[1][-30:, -30:] - silent).mean() < 2
    assert np.abs(loud - silent).max() > 60


def test_a_film_that_was_encoded_again_is_another_film(tmp_path: Path, robot: Path) -> None:
    """Its note is gone with the frames it was about, so nobody paints where no mouth is."""
    again = tmp_path / "again.mp4"
    run([*reading(robot), "-ss", "0.5", *H264, writing(again)])
    assert noted_faces(again) is None
    made = LIPS.sync(again, audio(tmp_path / "a.wav", [(0.0, 1.0)]), tmp_path / "sung.mp4", ListeningReporter())
    assert made.metrics["frames"] == 12


def test_a_note_that_opens_more_than_can_be_read_is_none(tmp_path: Path) -> None:
    """A film that somebody sent may have such a note too."""
    film = tmp_path / "film.mp4"
    encode(grey_frames([90] * 2), film, width=WIDTH, height=HEIGHT, fps=FPS)
    note_faces(film, Faces("cat", ()))
    film.write_bytes(film.read_bytes() + note(b"[" * 200_000))
    assert noted_faces(film) == Faces("cat", ())
    encode(grey_frames([90] * 2), film, width=WIDTH, height=HEIGHT, fps=FPS)
    film.write_bytes(film.read_bytes() + note(b"[" * 200_000))
    assert noted_faces(film) is None


def note(told: bytes) -> bytes:
    body = _ID + told
    return struct.pack(">I4s", 8 + len(body), b"uuid") + body


@pytest.mark.parametrize("filters", ["scale=161:91", "transpose=1"])
def test_an_odd_film_is_made_even_first(tmp_path: Path, robot: Path, filters: str) -> None:
    odd, into = tmp_path / "odd.mkv", tmp_path / "sung.mp4"
    run([*reading(robot), "-vf", filters, "-c:v", "mpeg4", writing(odd)])
    LIPS.sync(odd, audio(tmp_path / "a.wav", [(0.0, 1.0)]), into, ListeningReporter())
    found, given = probe(into).picture, probe(odd).picture
    assert found is not None
    assert given is not None
    assert (found.width, found.height) == ((given.width + 1) // 2 * 2, (given.height + 1) // 2 * 2)
    assert found.frames == 18


@pytest.mark.parametrize(
    ("aspect", "size"), [("2", (320, 90)), ("3/2", (240, 90)), ("1/2", (80, 90)), ("100", (320, 2))]
)
def test_pixels_that_are_not_square_become_so_and_the_film_keeps_its_shape(
    tmp_path: Path, aspect: str, size: tuple[int, int]
) -> None:
    """As far as that can be: at most twice as wide as it was, whatever its header says."""
    film, wide, into = tmp_path / "film.mp4", tmp_path / "wide.mp4", tmp_path / "sung.mp4"
    encode(grey_frames([90] * 6), film, width=WIDTH, height=HEIGHT, fps=FPS)
    run([*reading(film), "-vf", f"setsar={aspect}", *H264, writing(wide)])
    LIPS.sync(wide, audio(tmp_path / "a.wav", [(0.0, 0.5)]), into, ListeningReporter())
    found = probe(into).picture
    assert found is not None
    assert (found.width, found.height, found.pixel_aspect, found.frames) == (*size, 1.0, 6)


@pytest.mark.parametrize("size", [(WIDTH, HEIGHT), (161, 91)], ids=["even", "odd"])
def test_of_several_films_the_best_is_sung_in(tmp_path: Path, size: tuple[int, int]) -> None:
    dark, bright = tmp_path / "dark.mp4", tmp_path / "bright.mp4"
    encode(grey_frames([30] * 6, width=64, height=36), dark, width=64, height=36, fps=FPS)
    encode(grey_frames([200] * 6), bright, width=WIDTH, height=HEIGHT, fps=FPS)
    both, into = tmp_path / "both.mkv", tmp_path / "sung.mp4"
    choice = ("-map", "0:v", "-map", "1:v", "-disposition:v:0", "0", "-disposition:v:1", "default")
    larger = ("-filter:v:1", f"scale={size[0]}:{size[1]},setsar=1", "-c:v", "mpeg4")
    run([*reading(dark), *reading(bright), *choice, *larger, writing(both)])
    LIPS.sync(both, audio(tmp_path / "a.wav", [(0.0, 0.5)]), into, ListeningReporter())
    shown = frames(into)
    assert [frame[:40].mean() for frame in shown] == pytest.approx([200] * 6, abs=6)


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["made_odd_dims.mkv", "h265_10bits.mp4", "transparent_alpha.webm", "bitmap_tiny.mp4"])
def test_a_film_from_elsewhere_is_sung_in(tmp_path: Path, name: str) -> None:
    if not SAMPLES.is_dir():
        pytest.skip(f"there is no folder of real samples beside the repository: shared/data/{SAMPLES.name}")
    into = tmp_path / "sung.mp4"
    LIPS.sync(SAMPLES / "video" / name, audio(tmp_path / "a.wav", [(0.0, 1.0)]), into, ListeningReporter())
    found, given = probe(into), probe(SAMPLES / "video" / name)
    assert given.picture is not None
    assert found.sound is not None
    assert abs(found.duration - given.duration) <= 1.01 / given.picture.fps


def test_words_are_found_in_the_voice_and_shape_the_mouth(tmp_path: Path, speech: Path) -> None:
    clip, into = tmp_path / "clip.mp4", tmp_path / "sung.mp4"
    encode(grey_frames([90] * 36), clip, width=WIDTH, height=HEIGHT, fps=FPS)
    made = LIPS.sync(clip, speech, into, ListeningReporter(), words=WORDS)
    assert made.metrics["mouth"] == "words"
    assert 10 < made.metrics["open"] < 34
    sound = samples(speech, 3.0)
    mouths = spoken(sound, WORDS, 72, 24)
    assert mouths is not None
    assert {mouth.open for mouth in mouths} >= {CLOSED.open, PHONES["AY"].open, PHONES["UW"].open}


def test_a_voice_that_begins_later_is_followed(speech: Path) -> None:
    sound = samples(speech, 3.0)
    later = np.concatenate([np.zeros(RATE // 2, dtype=np.float32), sound])
    now, then = (spoken(each, WORDS, 90, 24) for each in (sound, later))
    assert now is not None
    assert then is not None
    opened = [np.array([mouth.open for mouth in mouths]) for mouths in (now, then)]
    assert opened[1][:12].max() == 0
    steps = [float(np.abs(opened[0][: 90 - by] - opened[1][by:]).mean()) for by in range(24)]
    assert abs(int(np.argmin(steps)) - 12) <= 1


def test_words_that_nobody_knows_are_spoken_letter_by_letter(speech: Path) -> None:
    assert guessed("zorblatt") == "Z AO R B L AH T T"
    assert guessed("'") == "AH"
    sound = samples(speech, 3.0)
    assert spoken(sound, WORDS.replace("moon", "mewn"), 72, 24) is not None


@pytest.mark.parametrize("words", ["", "  ", "♪ 月 ♪", "hello " * 400])
def test_words_that_are_not_there_are_not_sung(tmp_path: Path, robot: Path, words: str) -> None:
    sound = audio(tmp_path / "a.wav", [(0.5, 1.0)])
    made = LIPS.sync(robot, sound, tmp_path / "sung.mp4", ListeningReporter(), words=words)
    assert made.metrics["mouth"] == "loudness"
    assert 6 <= made.metrics["open"] <= 9


def test_lips_are_together_for_m_b_and_p_and_round_for_w() -> None:
    assert PHONES["M"] == PHONES["B"] == PHONES["P"] == PHONES["SIL"] == CLOSED
    assert PHONES["AA"].open == 1.0
    assert PHONES["W"].wide < 0.1 < 0.9 < PHONES["IY"].wide


def test_a_dark_sound_makes_a_round_mouth_and_a_bright_one_a_wide_one(tmp_path: Path) -> None:
    def mouth(hertz: float) -> Mouth:
        path = audio(tmp_path / f"{hertz}.wav", [(0.0, 1.0)], hertz=hertz)
        return heard(samples(path, 1.0), 12, 12)[6]

    assert mouth(400).wide < 0.2
    assert mouth(2200).wide > 0.8
    assert mouth(400).open > 0.8


def test_in_a_loud_track_the_mouth_still_moves() -> None:
    """A band that never stops: the mouth follows what is louder than the rest."""
    time = np.arange(3 * RATE) / RATE
    track = 0.1 * np.sin(2 * np.pi * 300 * time) + 0.4 * np.sin(2 * np.pi * 700 * time) * (np.sin(2 * np.pi * time) > 0)
    opened = np.array([mouth.open for mouth in heard(track.astype(np.float32), 36, 12)])
    assert opened[1:5].min() > 0.8
    assert opened[7:11].max() < 0.4


def test_a_murmur_opens_no_mouth() -> None:
    time = np.arange(2 * RATE) / RATE
    level = np.where((time > 0.5) & (time < 1.5), 0.02, 0.003)
    mouths = heard((level * np.sin(2 * np.pi * 500 * time)).astype(np.float32), 24, 12)
    assert mouths[:5] == mouths[-5:] == [CLOSED] * 5
    assert min(mouth.open for mouth in mouths[8:16]) > 0.8


def test_the_desk_hears_of_every_half_second_and_may_stop_it(tmp_path: Path, robot: Path) -> None:
    sound, into = audio(tmp_path / "a.wav", [(0.0, 1.0)]), tmp_path / "sung.mp4"
    reporter = ListeningReporter()
    LIPS.sync(robot, sound, into, reporter)
    assert reporter.told == pytest.approx([0.0, 0.1, 0.1, 0.4, 0.7, 1.0])
    into.unlink()
    before = children()
    for until in (1, 4):
        with pytest.raises(Gone):
            LIPS.sync(robot, sound, into, ListeningReporter(until=until))
    assert children() <= before
    assert [path.name for path in tmp_path.iterdir()] == ["a.wav"]


def test_what_has_no_sound_or_no_pictures_is_refused_for_good(tmp_path: Path, robot: Path) -> None:
    into, sound = tmp_path / "sung.mp4", audio(tmp_path / "a.wav", [(0.0, 1.0)])
    broken = tmp_path / "broken.mp3"
    broken.write_bytes(b"no sound at all")
    with pytest.raises(Terminal, match=r"robot\.mp4 has no sound"):
        LIPS.sync(robot, robot, into, ListeningReporter())
    with pytest.raises(Terminal, match=r"broken\.mp3 cannot be read"):
        LIPS.sync(robot, broken, into, ListeningReporter())
    with pytest.raises(Terminal, match="no moving pictures"):
        LIPS.sync(sound, sound, into, ListeningReporter())
    assert not into.exists()


def test_without_pocketsphinx_loudness_has_to_do(monkeypatch: pytest.MonkeyPatch, speech: Path) -> None:
    sound = samples(speech, 3.0)
    for module in [name for name in sys.modules if name.partition(".")[0] == "pocketsphinx"]:
        monkeypatch.delitem(sys.modules, module)
    found = PathFinder.find_spec
    monkeypatch.setattr(
        PathFinder, "find_spec", lambda name, *rest: None if name == "pocketsphinx" else found(name, *rest)
    )
    assert spoken(sound, WORDS, 72, 24) is None
