"""The composer: exact lengths, sounds in step, fades, and nothing left when it is stopped."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import InvalidValue
from penstock.media.compose import LOUDNESS, Composer, FfmpegComposer
from penstock.media.errors import UnusableFile
from penstock.media.ffmpeg import H264, reading, run, writing
from penstock.media.frame_encoder import encode
from penstock.media.probe import PictureTrack, Probed, SoundTrack, probe
from penstock.media.soundness import sound_image, sound_video
from tests.media.films import FPS, HEIGHT, WIDTH, film, grey_frames, greys, moving_frames, samples, tone
from tests.media.processes import children

SAMPLES = Path(__file__).parents[3] / "shared" / "data" / "media"


class Listener:
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.fractions: list[float] = []
        self.notes: list[str] = []

    def __call__(self, fraction: float, note: str | None) -> None:
        self.fractions.append(fraction)
        if note is not None:
            self.notes.append(note)


class Leaving(Listener):
    """One that goes away when the cutting has begun."""

    class Gone(Exception):
        pass

    def __call__(self, fraction: float, note: str | None) -> None:
        super().__call__(fraction, note)
        if "cutting" in self.notes and note is None:
            raise self.Gone


@pytest.fixture
def composer() -> Composer:
    return FfmpegComposer(WIDTH, HEIGHT, FPS)


def grey(into: Path, level: int, seconds: float, *, sound: Path | None = None) -> Path:
    """A film of one grey from beginning to end."""
    levels = [level] * round(seconds * FPS)
    encode(grey_frames(levels), into, width=WIDTH, height=HEIGHT, fps=FPS, sound=sound)
    return into


def counting(into: Path, frames: int, *, fps: int = FPS, sound: Path | None = None) -> Path:
    """A film whose frames become brighter one by one."""
    levels = [20 + 8 * n for n in range(frames)]
    encode(grey_frames(levels), into, width=WIDTH, height=HEIGHT, fps=fps, sound=sound)
    return into


def seen_and_heard(path: Path) -> tuple[Probed, PictureTrack, SoundTrack]:
    probed = sound_video(path)
    assert probed.picture is not None
    assert probed.sound is not None
    return probed, probed.picture, probed.sound


def loudness(path: Path) -> float:
    ran = run([*reading(path), "-map", "0:a", "-af", "ebur128=framelog=quiet", "-f", "null", "-"], level="info")
    found = re.search(r"I:\s+(-?[\d.]+) LUFS", ran.log)
    assert found is not None
    return float(found[1])


def level_at(path: Path, second: float) -> float:
    heard = samples(path)
    return float(np.abs(heard[round(second * 48_000) : round((second + 0.1) * 48_000)]).max())


def test_a_cut_is_exactly_as_long_as_its_clips(composer: Composer, tmp_path: Path) -> None:
    """Within one frame per clip, pictures and sound, with frames that differ."""
    clips = [film(tmp_path / f"{n}.mp4", seconds, seed=n) for n, seconds in enumerate([2, 1.5, 0.25, 3])]
    track = tone(tmp_path / "track.wav", 1.3)
    listener = Listener()
    made = composer.compose(clips, track, tmp_path / "final.mp4", listener)
    probed, picture, sound = seen_and_heard(tmp_path / "final.mp4")
    assert probed.duration == 6.75
    assert sound.duration == pytest.approx(6.75, abs=0.001)
    assert (picture.codec, picture.pixel_format, picture.width, picture.height) == ("h264", "yuv420p", WIDTH, HEIGHT)
    assert (picture.frames, picture.fps, picture.pixel_aspect, picture.variable_rate) == (81, FPS, 1.0, False)
    assert (sound.codec, sound.sample_rate, sound.channels) == ("aac", 48_000, 2)
    assert made.metrics["frames"] == 81
    assert made.metrics["ffmpeg_seconds"] > 0
    assert listener.notes == ["looking at the clips", "measuring the track", "cutting"]
    assert len(set(greys(tmp_path / "final.mp4"))) > 20
    written = (tmp_path / "final.mp4").read_bytes()
    assert written.index(b"moov") < written.index(b"mdat"), "it plays before all of it is there"


def test_clips_fade_into_each_other_and_begin_where_they_should(composer: Composer, tmp_path: Path) -> None:
    clips = [grey(tmp_path / f"{level}.mp4", level, seconds) for level, seconds in [(40, 1), (200, 2), (100, 1)]]
    composer.compose(clips, None, tmp_path / "final.mp4", Listener())
    shown = greys(tmp_path / "final.mp4")
    fade = [40 + 160 * n / 6 for n in range(6)]
    assert shown[:18] == pytest.approx([40] * 12 + fade, abs=5)
    assert shown[18:36] == pytest.approx([200] * 18, abs=5)
    assert shown[36:42] == pytest.approx([200 - 100 * n / 6 for n in range(6)], abs=5)
    assert shown[42:] == pytest.approx([100] * 6, abs=5)


def test_a_fade_is_shortened_for_short_clips_and_left_out_for_a_blink(composer: Composer, tmp_path: Path) -> None:
    clips = [
        grey(tmp_path / f"{n}.mp4", level, frames / FPS)
        for n, (level, frames) in enumerate([(40, 12), (200, 4), (40, 1), (200, 1)])
    ]
    composer.compose(clips, None, tmp_path / "final.mp4", Listener())
    assert greys(tmp_path / "final.mp4") == pytest.approx([40] * 12 + [40, 120] + [200] * 2 + [40, 200], abs=6)


@pytest.mark.parametrize("frames", [(1, 6), (6, 1, 6), (1, 1, 1), (1, 6, 1)])
def test_a_clip_of_one_frame_is_shown_wherever_it_stands(
    composer: Composer, tmp_path: Path, frames: tuple[int, ...]
) -> None:
    levels = [40 if n % 2 else 200 for n in range(len(frames))]
    clips = [
        grey(tmp_path / f"{n}.mp4", level, count / FPS)
        for n, (level, count) in enumerate(zip(levels, frames, strict=True))
    ]
    composer.compose(clips, None, tmp_path / "final.mp4", Listener())
    expected = [level for level, count in zip(levels, frames, strict=True) for _ in range(count)]
    assert greys(tmp_path / "final.mp4") == pytest.approx(expected, abs=6)


def test_one_clip_needs_no_fade(composer: Composer, tmp_path: Path) -> None:
    composer.compose([counting(tmp_path / "only.mp4", 12)], None, tmp_path / "final.mp4", Listener())
    assert greys(tmp_path / "final.mp4") == pytest.approx([20 + 8 * n for n in range(12)], abs=4)


@pytest.mark.parametrize("seconds", [0.7, 9.0], ids=["looped", "cut"])
def test_the_track_is_looped_or_cut(composer: Composer, tmp_path: Path, seconds: float) -> None:
    clips = [film(tmp_path / f"{n}.mp4", 2, seed=n) for n in range(2)]
    composer.compose(clips, tone(tmp_path / "track.wav", seconds), tmp_path / "final.mp4", Listener())
    assert all(level_at(tmp_path / "final.mp4", second) > 0.1 for second in (0.0, 0.65, 1.4, 2.2))
    assert level_at(tmp_path / "final.mp4", 3.89) < 0.05, "it fades out at the end"
    assert seen_and_heard(tmp_path / "final.mp4")[2].duration == pytest.approx(4, abs=0.001)


@pytest.mark.parametrize("level", [0.02, 0.9], ids=["faint", "loud"])
def test_every_track_is_as_loud_as_the_others(composer: Composer, tmp_path: Path, level: float) -> None:
    track = tone(tmp_path / "track.wav", 3, level=level, hertz=1000)
    composer.compose([film(tmp_path / "clip.mp4", 8)], track, tmp_path / "final.mp4", Listener())
    assert loudness(tmp_path / "final.mp4") == pytest.approx(LOUDNESS, abs=1)
    assert np.abs(samples(tmp_path / "final.mp4")).max() < 1


@pytest.mark.parametrize("level", [0, 0.0003])
def test_silence_stays_silent(composer: Composer, tmp_path: Path, level: float) -> None:
    track = tone(tmp_path / "track.wav", 2, level=level)
    composer.compose([film(tmp_path / "clip.mp4", 1)], track, tmp_path / "final.mp4", Listener())
    assert np.abs(samples(tmp_path / "final.mp4")).max() < 0.001


def test_without_a_track_clips_are_heard_at_their_own_times(composer: Composer, tmp_path: Path) -> None:
    heard = tone(tmp_path / "tone.wav", 1)
    clips = [
        film(tmp_path / "silent.mp4", 1),
        film(tmp_path / "heard.mp4", 1, seed=1, sound=heard),
        film(tmp_path / "silent_too.mp4", 1, seed=2),
    ]
    composer.compose(clips, None, tmp_path / "final.mp4", Listener())
    assert [level_at(tmp_path / "final.mp4", second) > 0.1 for second in (0.5, 0.88, 1.02, 1.5, 1.88, 2.02, 2.5)] == [
        *(False, False),
        *(True, True, True),
        *(False, False),
    ]
    assert seen_and_heard(tmp_path / "final.mp4")[2].duration == pytest.approx(3, abs=0.001)


def test_pictures_that_begin_after_their_sound_stay_in_step_with_it(composer: Composer, tmp_path: Path) -> None:
    pictures, heard, late = counting(tmp_path / "film.mp4", 12), tone(tmp_path / "tone.wav", 0.9), tmp_path / "late.mkv"
    run([*reading(pictures, "-itsoffset", "0.5"), *reading(heard), "-c", "copy", writing(late)])
    composer.compose([late], None, tmp_path / "final.mp4", Listener())
    assert greys(tmp_path / "final.mp4") == pytest.approx([20 + 8 * n for n in range(12)], abs=4)
    heard_at = [level_at(tmp_path / "final.mp4", second) > 0.1 for second in (0.05, 0.25, 0.45, 0.8)]
    assert heard_at == [True, True, False, False]


def test_clips_of_any_form_are_brought_into_one(composer: Composer, tmp_path: Path) -> None:
    """Turned, odd in size, other rates, other codecs, pixels that are not square."""
    encode(moving_frames(30, width=64, height=120), tmp_path / "tall.mp4", width=64, height=120, fps=30)
    plain = film(tmp_path / "plain.mp4", 1)
    turned, odd, varying, wide = (tmp_path / name for name in ("turned.mp4", "odd.mkv", "varying.mp4", "wide.mp4"))
    run(["-display_rotation", "90", *reading(plain), "-c", "copy", writing(turned)])
    run([*reading(plain), "-vf", "scale=101:57", "-c:v", "ffv1", writing(odd)])
    run([*reading(plain), "-vf", "select='not(mod(n,3))+gt(n,7)'", "-fps_mode", "vfr", *H264, writing(varying)])
    run([*reading(plain), "-vf", "setsar=2", *H264, writing(wide)])
    clips = [tmp_path / "tall.mp4", turned, odd, varying, wide]
    expected = sum(probe(clip).duration for clip in clips)
    composer.compose(clips, None, tmp_path / "final.mp4", Listener())
    probed, picture, _ = seen_and_heard(tmp_path / "final.mp4")
    assert probed.duration == pytest.approx(expected, abs=0.5 / FPS)
    assert (picture.width, picture.height, picture.rotation) == (WIDTH, HEIGHT, 0)


def test_a_turned_clip_stands_upright_between_bars(composer: Composer, tmp_path: Path) -> None:
    import av

    run(
        [
            "-display_rotation",
            "90",
            *reading(grey(tmp_path / "plain.mp4", 200, 0.5)),
            "-c",
            "copy",
            writing(tmp_path / "turned.mp4"),
        ]
    )
    composer.compose([tmp_path / "turned.mp4"], None, tmp_path / "final.mp4", Listener())
    with av.open(str(tmp_path / "final.mp4")) as container:
        shown = next(container.decode(video=0)).to_ndarray(format="gray")
    # 90 high and 160 wide, turned and shrunk: 50 pixels wide, in the middle.
    bright = np.flatnonzero(shown[45] > 100)
    assert len(bright) == pytest.approx(50, abs=2)
    assert bright.mean() == pytest.approx(79.5, abs=2)
    assert (shown[:, bright[3] : bright[-3]] > 100).all()


def test_the_same_clips_give_the_same_cut(composer: Composer, tmp_path: Path) -> None:
    clips = [film(tmp_path / f"{n}.mp4", 1, seed=n) for n in range(3)]
    track = tone(tmp_path / "track.wav", 1)
    for name in ("a.mp4", "b.mp4"):
        composer.compose(clips, track, tmp_path / name, Listener())
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


def test_forty_clips_are_cut_in_one_go(composer: Composer, tmp_path: Path) -> None:
    clips = [grey(tmp_path / "dark.mp4", 50, 0.75), grey(tmp_path / "bright.mp4", 200, 0.75)] * 20
    composer.compose(clips, None, tmp_path / "final.mp4", Listener())
    probed, picture, sound = seen_and_heard(tmp_path / "final.mp4")
    assert (probed.duration, picture.frames) == (30.0, 360)
    assert sound.duration == pytest.approx(30, abs=0.001)
    assert greys(tmp_path / "final.mp4")[8::9] == pytest.approx([50, 200] * 20, abs=6)


def test_stopped_while_it_tells_how_far_it_is_it_leaves_neither_process_nor_file(
    composer: Composer, tmp_path: Path
) -> None:
    """What its listener raises goes through, and whatever was begun is given up."""
    clips = [film(tmp_path / "clip.mp4", 2)] * 3
    into = tmp_path / "cut" / "final.mp4"
    into.parent.mkdir()
    before = children()
    with pytest.raises(Leaving.Gone):
        composer.compose(clips, None, into, Leaving())
    assert children() == before
    assert list(into.parent.iterdir()) == []


def test_a_clip_that_cannot_be_used_is_named(composer: Composer, tmp_path: Path) -> None:
    good, bad = film(tmp_path / "good.mp4", 0.5), tmp_path / "bad.mp4"
    bad.write_text("no film at all")
    with pytest.raises(UnusableFile, match="clip 2: the file is text"):
        composer.compose([good, bad], None, tmp_path / "final.mp4", Listener())
    with pytest.raises(UnusableFile, match="no moving pictures"):
        composer.compose([tone(tmp_path / "tone.wav", 1)], None, tmp_path / "final.mp4", Listener())
    with pytest.raises(UnusableFile, match="no sound in the track"):
        composer.compose([good], good, tmp_path / "final.mp4", Listener())
    with pytest.raises(InvalidValue, match="no clips"):
        composer.compose([], None, tmp_path / "final.mp4", Listener())
    assert not (tmp_path / "final.mp4").exists()


@pytest.mark.parametrize(
    ("width", "height", "fps", "fade"), [(161, 90, 12, 0.5), (0, 0, 12, 0.5), (160, 90, 0, 0.5), (160, 90, 12, -1)]
)
def test_a_cut_that_cannot_be_is_refused(width: int, height: int, fps: int, fade: float) -> None:
    with pytest.raises(InvalidValue):
        FfmpegComposer(width, height, fps, fade)


@pytest.mark.parametrize("fps", [12, 25])
def test_a_part_is_exact_to_the_frame(composer: Composer, tmp_path: Path, fps: int) -> None:
    clip = counting(tmp_path / "clip.mp4", 25, fps=fps)
    composer.trim(clip, tmp_path / "part.mp4", start=6 / fps, stop=15 / fps)
    assert greys(tmp_path / "part.mp4") == pytest.approx([20 + 8 * n for n in range(6, 15)], abs=4)
    probed = sound_video(tmp_path / "part.mp4")
    assert probed.duration == pytest.approx(9 / fps, abs=0.001)
    assert probed.sound is None


def test_a_part_keeps_its_sound_in_step(composer: Composer, tmp_path: Path) -> None:
    heard = tone(tmp_path / "tone.wav", 0.9)
    clip = film(tmp_path / "clip.mp4", 2, sound=heard)
    composer.trim(clip, tmp_path / "part.mp4", start=0.5, stop=1.5)
    _, _, sound = seen_and_heard(tmp_path / "part.mp4")
    assert sound.duration == pytest.approx(1, abs=0.001)
    assert [level_at(tmp_path / "part.mp4", second) > 0.1 for second in (0.1, 0.28, 0.45, 0.8)] == [
        True,
        True,
        False,
        False,
    ]


def test_a_part_of_an_odd_clip(composer: Composer, tmp_path: Path) -> None:
    plain, odd, varying = film(tmp_path / "plain.mp4", 2), tmp_path / "odd.mkv", tmp_path / "varying.mp4"
    run([*reading(plain), "-vf", "scale=101:57", "-c:v", "ffv1", writing(odd)])
    run([*reading(plain), "-vf", "select='not(mod(n,3))+gt(n,15)'", "-fps_mode", "vfr", *H264, writing(varying)])
    slow = tmp_path / "slow.mkv"
    run([*reading(plain), "-vf", "setpts=PTS*24,fps=1/4", "-c:v", "ffv1", writing(slow)])
    for clip in (odd, varying, slow):
        composer.trim(clip, tmp_path / "part.mp4", start=0.5, stop=1.25)
        assert sound_video(tmp_path / "part.mp4").duration == pytest.approx(0.75, abs=0.001)


def test_a_lost_frame_makes_nothing_shorter(composer: Composer, tmp_path: Path) -> None:
    clip = tmp_path / "clip.mkv"
    run([*reading(film(tmp_path / "film.mp4", 1)), "-c:v", "mjpeg", writing(clip)])
    whole = clip.read_bytes()
    begin, end = whole.rindex(b"\xff\xd8\xff"), whole.rindex(b"\xff\xd9")
    clip.write_bytes(whole[:begin] + bytes(end - begin) + whole[end:])
    assert sound_video(clip).duration == 1, "one frame that is lost is forgiven"
    composer.trim(clip, tmp_path / "part.mp4", start=0.5, stop=1)
    composer.compose([clip], None, tmp_path / "final.mp4", Listener())
    assert (probe(tmp_path / "part.mp4").duration, probe(tmp_path / "final.mp4").duration) == (0.5, 1)


@pytest.mark.parametrize(("start", "stop"), [(-0.1, 1), (1, 1), (1, 0.5), (0, 2.2), (0.5, 0.51), (float("nan"), 1)])
def test_what_is_no_part_is_refused(composer: Composer, tmp_path: Path, start: float, stop: float) -> None:
    clip = film(tmp_path / "clip.mp4", 2)
    with pytest.raises(InvalidValue, match=r"s is no part of it|no whole frame"):
        composer.trim(clip, tmp_path / "part.mp4", start=start, stop=stop)
    assert not (tmp_path / "part.mp4").exists()


def test_an_excerpt_goes_on_at_the_beginning(composer: Composer, tmp_path: Path) -> None:
    """The track is heard for its first half only, so where it begins again can be heard."""
    track = tmp_path / "track.wav"
    run([*reading(tone(tmp_path / "half.wav", 1)), "-af", "apad=whole_dur=2", "-f", "wav", writing(track)])
    composer.excerpt(track, tmp_path / "part.mp3", start=1.5, seconds=3)
    found = probe(tmp_path / "part.mp3")
    assert found.sound is not None
    assert (found.kind, found.container, found.sound.codec, found.sound.channels) == ("audio", "mp3", "mp3", 2)
    assert found.duration == pytest.approx(3, abs=0.03)
    heard = [level_at(tmp_path / "part.mp3", second) > 0.05 for second in (0.1, 0.35, 0.6, 1.3, 1.6, 2.3, 2.6)]
    assert heard == [False, False, True, True, False, False, True]
    composer.excerpt(track, tmp_path / "same.mp3", start=5.5, seconds=3)
    assert (tmp_path / "same.mp3").read_bytes() == (tmp_path / "part.mp3").read_bytes()


def test_before_its_beginning_a_track_is_silent(composer: Composer, tmp_path: Path) -> None:
    """What is heard with a clip whose first part is not shown."""
    composer.excerpt(tone(tmp_path / "track.wav", 2), tmp_path / "part.mp3", start=-0.5, seconds=1.5)
    assert probe(tmp_path / "part.mp3").duration == pytest.approx(1.5, abs=0.03)
    heard = [level_at(tmp_path / "part.mp3", second) > 0.05 for second in (0.1, 0.35, 0.6, 1.3)]
    assert heard == [False, False, True, True]


@pytest.mark.parametrize(("start", "seconds"), [(-1, 1), (0, 0), (0, float("inf")), (float("nan"), 1)])
def test_what_is_no_excerpt_is_refused(composer: Composer, tmp_path: Path, start: float, seconds: float) -> None:
    with pytest.raises(InvalidValue, match="no part of a track"):
        composer.excerpt(tone(tmp_path / "track.wav", 1), tmp_path / "part.mp3", start=start, seconds=seconds)


def test_a_thumbnail_is_a_picture_of_the_clip(composer: Composer, tmp_path: Path) -> None:
    composer.thumbnail(film(tmp_path / "clip.mp4", 1), tmp_path / "small.jpg")
    found = sound_image(tmp_path / "small.jpg")
    assert found.picture is not None
    assert (found.container, found.picture.width, found.picture.height) == ("jpeg", WIDTH, HEIGHT)


@pytest.mark.realdata
def test_real_clips_and_tracks_make_a_cut(composer: Composer, tmp_path: Path) -> None:
    if not SAMPLES.is_dir():
        pytest.skip(f"there is no folder of real samples beside the repository: shared/data/{SAMPLES.name}")
    names = [
        "made_rotated90.mp4",
        "fixture.webm",
        "made_odd_dims.mkv",
        "h265_10bits.mp4",
        "mjpeg.mov",
        "bitmap_tiny.mp4",
    ]
    clips = [SAMPLES / "video" / name for name in names]
    expected = sum(probe(clip).duration for clip in clips)
    for track in (None, SAMPLES / "audio" / "bad_offset.mp3", SAMPLES / "audio" / "adts.aac"):
        composer.compose(clips, track, tmp_path / "final.mp4", Listener())
        probed, _, sound = seen_and_heard(tmp_path / "final.mp4")
        assert probed.duration == pytest.approx(expected, abs=0.5 / FPS)
        assert sound.duration == pytest.approx(probed.duration, abs=0.001)
