"""Every film becomes a stream that plays: whole, in step, exact to the frame, and growing while it is made."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import InvalidValue, PenstockError
from penstock.media.adaptive import Encoded, encode_adaptive
from penstock.media.errors import FfmpegTooSlow, UnusableFile
from penstock.media.ffmpeg import reading, run, writing
from penstock.media.frame_encoder import encode
from penstock.media.ladder import Rung, rungs
from penstock.media.probe import probe
from penstock.media.probed import Probed
from penstock.media.soundness import sound_video
from tests.media.films import FPS, HEIGHT, WIDTH, film, grey_frames, greys, samples, tone
from tests.media.processes import children
from tests.media.streams import Heard, check_stream, variants
from tests.media.test_samples import BROKEN, VIDEOS, sample

LEVELS = [20 + 5 * (n % 40) for n in range(5 * FPS)]
"Greys of frames that can be told from their neighbours."
TWO_RUNGS = [Rung("90p", 160, 90, 300_000, FPS, True), Rung("46p", 80, 46, 100_000, FPS, True)]


class Enough(Exception):
    """Nobody waits any more."""


def encoded(source: Path, into: Path) -> tuple[Probed, Encoded]:
    probed = probe(source)
    return probed, encode_adaptive(source, probed, rungs(probed), into)


def test_all_rungs_are_whole_and_in_step(tmp_path: Path) -> None:
    source = film(tmp_path / "film.mp4", 5, sound=tone(tmp_path / "tone.wav", 5))
    probed = probe(source)
    made = encode_adaptive(source, probed, TWO_RUNGS, tmp_path / "out")
    check_stream(made, probed)
    assert [rung.rung for rung in made.rungs] == TWO_RUNGS
    assert made.master == tmp_path / "out" / "hls" / "master.m3u8"
    assert made.rungs[1].playlist == tmp_path / "out" / "hls" / "46p" / "index.m3u8"
    assert [segment.name for segment in made.rungs[0].segments] == [f"segment_0000{n}.m4s" for n in (1, 2, 3)]
    assert made.rungs[0].mp4 == tmp_path / "out" / "mp4" / "90p.mp4"
    assert made.frames == 5 * FPS


def test_a_frame_has_the_number_it_had_in_the_film(tmp_path: Path) -> None:
    source = tmp_path / "film.mp4"
    encode(grey_frames(LEVELS), source, width=WIDTH, height=HEIGHT, fps=FPS)
    _, made = encoded(source, tmp_path / "out")
    expected = greys(source)
    assert greys(made.rungs[0].mp4) == pytest.approx(expected, abs=3)
    assert greys(made.rungs[0].playlist) == pytest.approx(expected, abs=3)


def test_a_rung_may_be_without_sound(tmp_path: Path) -> None:
    source = film(tmp_path / "film.mp4", 1, sound=tone(tmp_path / "tone.wav", 1))
    ladder = [TWO_RUNGS[0], replace(TWO_RUNGS[1], audio=False)]
    made = encode_adaptive(source, probe(source), ladder, tmp_path / "out")
    assert [probe(rung.mp4).sound is not None for rung in made.rungs] == [True, False]
    assert [rung.variant.codecs.count(",") for rung in made.rungs] == [1, 0]
    silent = encode_adaptive(source, probe(source), ladder[1:], tmp_path / "out")
    assert probe(silent.rungs[0].mp4).sound is None


@pytest.mark.parametrize(("late", "lasts"), [(0.0, 1.0), (0.0, 6.0), (1.0, 2.0)])
def test_sound_stays_where_it_is_in_the_film_and_is_as_long(tmp_path: Path, late: float, lasts: float) -> None:
    seen, heard = film(tmp_path / "seen.mp4", 3), tone(tmp_path / "heard.wav", lasts)
    source = tmp_path / "film.mkv"
    both = [*reading(seen), *reading(heard, "-itsoffset", str(late)), "-c:v", "copy", "-c:a", "pcm_s16le"]
    run([*both, writing(source)])
    probed, made = encoded(source, tmp_path / "out")
    check_stream(made, probed)
    waves = samples(made.rungs[0].mp4)
    assert len(waves) == pytest.approx(3 * 48_000, abs=1024)
    loud = np.flatnonzero(np.abs(waves) > 0.1) / 48_000
    assert loud[0] == pytest.approx(max(late, 1024 / 48_000), abs=0.02)
    assert loud[-1] == pytest.approx(min(3.0, late + lasts), abs=0.02)


def test_sound_before_the_film_is_left_out(tmp_path: Path) -> None:
    """The film's first frame is the beginning of all."""
    seen, heard = film(tmp_path / "seen.mp4", 2), tone(tmp_path / "heard.wav", 1.5)
    source = tmp_path / "film.mkv"
    run([*reading(heard), *reading(seen, "-itsoffset", "1"), "-c:v", "copy", "-c:a", "pcm_s16le", writing(source)])
    probed, made = encoded(source, tmp_path / "out")
    assert probed.duration == pytest.approx(2)
    check_stream(made, probed)
    loud = np.flatnonzero(np.abs(samples(made.rungs[0].mp4)) > 0.1) / 48_000
    assert loud[-1] == pytest.approx(0.5, abs=0.02)


class Uploaded:
    """Somebody who copies each file when told of it, and looks each time whether what there is would play."""

    def __init__(self, root: Path, to: Path) -> None:
        self._root, self._to = root, to
        self.kinds: list[str] = []
        self.targets: set[int] = set()
        self.masters: list[dict[str, dict[str, str]]] = []

    def __call__(self, file: Path) -> None:
        place = self._to / file.relative_to(self._root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
        if file.name == "index.m3u8":
            heard = Heard.of(place)
            self.kinds.append(heard.kind)
            self.targets.add(heard.target)
            assert all((place.parent / name).is_file() for name in ["init.mp4", *heard.names])
            assert heard.names
        elif file.name == "master.m3u8":
            self.masters.append(variants(place))
            assert all((place.parent / name).is_file() for name in self.masters[-1])
        elif file.suffix == ".mp4" and file.parent.name == "mp4":
            assert probe(place).duration == pytest.approx(8, abs=0.01)


def test_whoever_uploads_in_the_order_of_growth_always_has_a_stream_that_plays(tmp_path: Path) -> None:
    source = film(tmp_path / "film.mp4", 8, sound=tone(tmp_path / "tone.wav", 8))
    uploaded, shares = Uploaded(tmp_path / "out", tmp_path / "there"), list[float]()
    made = encode_adaptive(source, probe(source), TWO_RUNGS, tmp_path / "out", progress=shares.append, grown=uploaded)
    there = {file.relative_to(tmp_path / "there") for file in (tmp_path / "there").rglob("*") if file.is_file()}
    assert there == {file.relative_to(tmp_path / "out") for file in made.files}
    for file in made.files:
        assert (tmp_path / "there" / file.relative_to(tmp_path / "out")).read_bytes() == file.read_bytes()
    assert uploaded.kinds[0] == "EVENT"
    assert uploaded.kinds[-2:] == ["VOD", "VOD"]
    assert uploaded.kinds.count("VOD") == 2
    assert uploaded.targets == {2}, "it never changes"
    first, last = uploaded.masters
    for name, told in last.items():
        assert int(first[name]["BANDWIDTH"]) >= int(told["BANDWIDTH"]), "what was promised early was enough"
        assert first[name]["CODECS"] == told["CODECS"]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)


@pytest.mark.parametrize("by", ["progress", "grown"])
def test_what_a_listener_raises_ends_it_and_leaves_nothing(tmp_path: Path, by: str) -> None:
    source = film(tmp_path / "film.mp4", 8)
    before, probed = children(), probe(source)

    def stop(_: object) -> None:
        raise Enough

    progress, grown = (stop, None) if by == "progress" else (None, stop)
    with pytest.raises(Enough):
        encode_adaptive(source, probed, rungs(probed), tmp_path / "out", progress=progress, grown=grown)
    assert children() == before
    assert not list((tmp_path / "out").iterdir())


def test_it_is_ended_when_its_time_is_over_and_leaves_others_files_alone(tmp_path: Path) -> None:
    source, into = film(tmp_path / "film.mp4", 8), tmp_path / "out"
    into.mkdir()
    (into / "poster.jpg").write_bytes(b"somebody's")
    with pytest.raises(FfmpegTooSlow):
        encode_adaptive(source, probe(source), TWO_RUNGS, into, limit=timedelta(0))
    assert [path.name for path in into.iterdir()] == ["poster.jpg"]


def test_nothing_of_an_earlier_encoding_is_left(tmp_path: Path) -> None:
    long, short = film(tmp_path / "long.mp4", 5), film(tmp_path / "short.mp4", 2)
    encode_adaptive(long, probe(long), TWO_RUNGS, tmp_path / "out")
    check_stream(encode_adaptive(short, probe(short), TWO_RUNGS[:1], tmp_path / "out"), probe(short))


def test_names_are_never_taken_for_anything_else(tmp_path: Path) -> None:
    folder = tmp_path / "a b'c|[d]%d:e,f;g\\h"
    folder.mkdir()
    source = film(folder / "-i %05d film.mp4", 2)
    probed, made = encoded(source, folder / "-out put|")
    check_stream(made, probed)


def test_a_ladder_has_rungs_with_different_names(tmp_path: Path) -> None:
    source = film(tmp_path / "film.mp4", 1)
    for ladder in ([], [TWO_RUNGS[0], TWO_RUNGS[0]]):
        with pytest.raises(InvalidValue, match="at least one rung"):
            encode_adaptive(source, probe(source), ladder, tmp_path / "out")


@dataclass(frozen=True)
class Trait:
    """A film that a test makes itself, and what must become of it."""

    made: str
    "What ffmpeg is told, but for the name."
    size: tuple[int, int] = (160, 90)
    seconds: float = 1.0
    fps: float = 12.0
    suffix: str = ".mp4"
    before: str = ""
    "What the film is made of, first; then the other is told of it."
    within: float = 0.04


SEEN = "-f lavfi -i testsrc2=size=160x90:rate=12:duration=1"
HEARD = "-f lavfi -i sine=duration=1"
FAST = "-c:v libx264 -preset ultrafast"
QUICK = {
    "a transport stream": Trait(f"{SEEN} {HEARD} {FAST} -metadata service_name=Fernsehen", suffix=".ts"),
    "mirrored and turned": Trait(
        "-display_rotation 90 -display_hflip -i {} -c copy", (90, 160), before=f"{SEEN} {FAST}"
    ),
    "odd sizes": Trait(
        f"{SEEN} -vf scale=161:91,setsar=1 -pix_fmt yuv444p -c:v ffv1",
        (160, 90),
        suffix=".mkv",
    ),
    "variable rate": Trait(
        f"{SEEN} -vf select='not(mod(n,3))+lt(n,5)' -fps_mode vfr {FAST}", seconds=10 / 12, fps=24.0
    ),
    "10 bits": Trait(f"{SEEN} -pix_fmt yuv420p10le {FAST}"),
}
SELDOM = {
    **{
        f"turned by {turn}": Trait(f"-display_rotation {turn} -i {{}} -c copy", size, before=f"{SEEN} {FAST}")
        for turn, size in ((0, (160, 90)), (90, (90, 160)), (180, (160, 90)), (270, (90, 160)), (45, (160, 90)))
    },
    "2x2": Trait(f"-f lavfi -i testsrc2=size=2x2:rate=12:duration=1 {FAST}", (2, 2)),
    "16x16": Trait(f"-f lavfi -i testsrc2=size=16x16:rate=12:duration=1 {FAST}", (16, 16)),
    "very wide": Trait(f"-f lavfi -i testsrc2=size=4000x16:rate=12:duration=1 {FAST}", (4000, 16)),
    "very tall": Trait(f"-f lavfi -i testsrc2=size=16x4000:rate=12:duration=1 {FAST}", (16, 4000)),
    "too wide": Trait(f"-f lavfi -i testsrc2=size=8000x200:rate=12:duration=1 {FAST}", (4080, 102)),
    "a gap": Trait(f"{SEEN} -vf select='lt(n,2)+gt(n,9)' -fps_mode vfr {FAST}", fps=24.0, suffix=".mkv"),
    "wild times": Trait(
        "-f lavfi -i testsrc2=size=160x90:rate=1000:duration=2"
        f" -vf select='eq(n,0)+lt(random(1),0.03)' -fps_mode vfr {FAST}",
        seconds=1.96,
        fps=50.0,
        suffix=".mkv",
        within=0.06,
    ),
    "two sounds": Trait(f"{SEEN} {HEARD} -f lavfi -i sine=880:duration=1 -map 0 -map 1 -map 2 {FAST}", suffix=".mkv"),
    "surround": Trait(f"{SEEN} -f lavfi -i aevalsrc=0|0|0|0|0|0:d=1:c=5.1 {FAST}"),
    "8 kHz": Trait(f"{SEEN} -f lavfi -i anoisesrc=d=1:r=8000 -c:a pcm_s16le {FAST}", suffix=".mov"),
    "HEVC, 10 bits, HDR": Trait(
        f"{SEEN} -pix_fmt yuv420p10le -c:v libx265 -preset ultrafast -x265-params log-level=none"
        " -color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc"
    ),
    "AV1": Trait(f"{SEEN} -c:v libaom-av1 -cpu-used 8", suffix=".mkv"),
    "VP8 and Opus": Trait(f"{SEEN} {HEARD} -c:v libvpx -deadline realtime -c:a libopus", suffix=".webm"),
    "VP9 with alpha": Trait(
        f"{SEEN} -vf format=yuva420p -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -auto-alt-ref 0", suffix=".webm"
    ),
    "alpha": Trait(f"{SEEN} -c:v png -pix_fmt rgba", suffix=".mov"),
    "Motion JPEG": Trait(f"{SEEN} -c:v mjpeg -pix_fmt yuvj444p", suffix=".mov"),
    "full range": Trait(f"{SEEN} -vf scale=out_range=pc -color_range pc {FAST}"),
    "interlaced": Trait(
        "-f lavfi -i testsrc2=size=160x96:rate=50:duration=1 -vf interlace -flags +ilme+ildct"
        " -c:v libx264 -preset ultrafast -x264-params tff=1",
        (160, 96),
        fps=25.0,
    ),
    "wide pixels": Trait(f"-f lavfi -i testsrc2=size=160x90:rate=12:duration=1 -vf setsar=2 {FAST}", (320, 90)),
    "high pixels": Trait(f"-f lavfi -i testsrc2=size=160x90:rate=12:duration=1 -vf setsar=1/2 {FAST}", (80, 90)),
    "4:4:4": Trait(f"{SEEN} -pix_fmt yuv444p {FAST}"),
    "RGB": Trait(f"{SEEN} -c:v libx264rgb -preset ultrafast"),
    "grey": Trait(f"{SEEN} -pix_fmt gray -c:v ffv1", suffix=".mkv"),
    "120 a second": Trait(f"-f lavfi -i testsrc2=size=160x90:rate=120:duration=1 {FAST}", fps=60.0),
    "240 a second": Trait(f"-f lavfi -i testsrc2=size=160x90:rate=240:duration=1 {FAST}", fps=60.0),
    "29.97 in milliseconds": Trait(
        f"-f lavfi -i testsrc2=size=160x90:rate=30000/1001:duration=3 {FAST}", seconds=3.003, fps=29.97, suffix=".mkv"
    ),
    "47.3 in milliseconds": Trait(
        "-f lavfi -i testsrc2=size=160x90:rate=47.3:duration=4 -c:v libvpx -deadline realtime",
        seconds=4.0,
        fps=47.3,
        suffix=".webm",
    ),
    "a rate nobody guesses": Trait(
        "-f lavfi -i testsrc2=size=160x90:rate=13.7:duration=1 -c:v ffv1", seconds=1.022, fps=13.7, suffix=".mkv"
    ),
    "one in five seconds": Trait(
        f"-f lavfi -i testsrc2=size=160x90:rate=1/5:duration=20 {FAST}", seconds=20.0, fps=1.0
    ),
    "one frame": Trait(f"{SEEN} -frames:v 1 {FAST}", seconds=1 / 12),
    "two frames": Trait(f"{SEEN} -frames:v 2 {FAST}", seconds=1 / 6),
    "an edit list": Trait("-ss 0.5 -i {} -c copy", seconds=0.5, before=f"{SEEN} {HEARD} {FAST} -shortest"),
    "a late beginning": Trait(f"{SEEN} {HEARD} {FAST} -output_ts_offset 5", suffix=".mkv"),
    "fragments": Trait(
        "-i {} -c copy -movflags frag_keyframe+empty_moov", before=f"{SEEN} {HEARD} {FAST}", fps=24.0, within=0.05
    ),
    "chapters and subtitles": Trait(f"{SEEN} {HEARD} -i {{}} -map 0 -map 1 -map 2 {FAST} -c:s mov_text"),
    "no times": Trait(f"{SEEN} -c:v libx264 -bf 3", suffix=".avi"),
    "hardly any times": Trait(f"{SEEN} -r 25 -c:v mpeg2video -bf 2", fps=25.0, suffix=".mpg"),
    "nothing but frames": Trait(f"{SEEN} -r 25 -c:v mpeg2video -bf 2", fps=25.0, suffix=".m2v"),
    "packed frames": Trait(f"{SEEN} -c:v mpeg4 -bf 2", suffix=".avi"),
    "a constant rate": Trait(
        "-f lavfi -i testsrc2=size=160x90:rate=25:duration=1"
        " -c:v mpeg2video -b:v 8M -minrate 8M -maxrate 8M -bufsize 2M",
        fps=25.0,
        suffix=".mkv",
    ),
    "a Blu-ray's stream": Trait(f"{SEEN} {HEARD} {FAST} -c:a ac3", suffix=".m2ts"),
    "a studio's file": Trait(f"{SEEN} {HEARD} -r 25 -c:v mpeg2video -ar 48000", fps=25.0, suffix=".mxf"),
    "a camera's tape": Trait(
        "-f lavfi -i testsrc2=size=720x576:rate=25:duration=1 -c:v dvvideo -pix_fmt yuv420p",
        (768, 576),
        fps=25.0,
        suffix=".dv",
    ),
    "Theora": Trait(f"{SEEN} -c:v libtheora", suffix=".ogv"),
    "Windows": Trait(f"{SEEN} -c:v wmv2", suffix=".asf"),
    "Flash": Trait(f"{SEEN} {HEARD} -c:v flv1 -ar 44100", suffix=".flv"),
}


def of_trait(trait: Trait, folder: Path) -> Path:
    first, source = folder / "first.mp4", folder / f"film{trait.suffix}"
    if trait.before:
        run([*trait.before.split(), writing(first)])
    elif "{}" in trait.made:
        first = folder / "first.srt"
        first.write_text("1\n00:00:00,000 --> 00:00:00,900\nhello\n")
    run([*trait.made.replace("{}", str(first)).split(), writing(source)])
    return source


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.long) for name in SELDOM)])
def test_a_film_of_any_kind_becomes_a_stream(tmp_path: Path, name: str) -> None:
    trait = {**QUICK, **SELDOM}[name]
    source = of_trait(trait, tmp_path)
    probed = sound_video(source)
    assert probed.duration == pytest.approx(trait.seconds, abs=trait.within)
    ladder = rungs(probed)
    assert (ladder[0].width, ladder[0].height) == trait.size
    assert ladder[0].fps == pytest.approx(trait.fps, rel=0.01)
    check_stream(encode_adaptive(source, probed, ladder, tmp_path / "out"), probed)


@pytest.mark.realdata
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("smallest.webm", "fixture.flv", "fixture.mkv") else pytest.mark.long)
        for name in VIDEOS
    ],
)
def test_every_good_sample_becomes_a_stream(tmp_path: Path, name: str) -> None:
    source = sample(f"video/{name}")
    probed = sound_video(source)
    made = encode_adaptive(source, probed, rungs(probed), tmp_path)
    check_stream(made, probed)
    assert made.duration == pytest.approx(VIDEOS[name][5], abs=0.04)
    assert made.rungs[0].rung.height <= max(2, VIDEOS[name][3])


@pytest.mark.realdata
@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in BROKEN if name.startswith("video/")])
def test_a_broken_sample_is_refused_or_becomes_a_stream(tmp_path: Path, name: str) -> None:
    """Whoever does not look at files before encoding them gets an error that says what is wrong, or a film."""
    reason = refused(sample(name), tmp_path)
    assert reason is None or (type(reason) is UnusableFile and "; " in str(reason))


def test_a_film_of_which_too_little_can_be_decoded_is_refused(tmp_path: Path) -> None:
    source = film(tmp_path / "film.mp4", 6)
    content = bytearray(source.read_bytes())
    begin = content.index(b"mdat") + 4
    content[begin + (len(content) - begin) // 8 :] = bytes(len(content) - begin - (len(content) - begin) // 8)
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(content)
    with pytest.raises(UnusableFile, match="of the film can be decoded; export it anew"):
        encode_adaptive(damaged, probe(source), TWO_RUNGS[:1], tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.long
def test_whatever_is_flipped_there_is_a_stream_or_a_reason(tmp_path: Path) -> None:
    whole = film(tmp_path / "film.mkv", 2, sound=tone(tmp_path / "tone.wav", 2)).read_bytes()
    random = np.random.default_rng(18)
    for number in range(40):
        content = bytearray(whole)
        for place in random.integers(0, len(content), size=int(random.choice([1, 5, 50]))):
            content[place] ^= 1 << int(random.integers(8))
        source = tmp_path / f"flipped{number}.mkv"
        source.write_bytes(content)
        reason = refused(source, tmp_path / str(number))
        assert reason is None or isinstance(reason, UnusableFile), reason


def refused(source: Path, into: Path) -> PenstockError | None:
    """Why it is; if it is not, it has become a stream."""
    try:
        probed = probe(source)
        made = encode_adaptive(source, probed, rungs(probed), into)
    except PenstockError as error:
        return error
    assert made.duration == pytest.approx(probed.duration, rel=0.1)
    return None
