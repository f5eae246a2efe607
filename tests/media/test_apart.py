"""Files are decoded in processes of their own, which have little memory and time, and whose death harms nobody."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
import zlib
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from penstock.media.apart import apart, kept
from penstock.media.errors import DecodingBusy, TooMuchToDecode, UnusableFile
from penstock.media.ffmpeg import MOST_PIXELS, run, writing
from penstock.media.header import header_of
from penstock.media.probe import probe
from penstock.media.room import AT_ONCE, TOTAL, Room
from penstock.media.soundness import sound_image, sound_video
from tests.media.films import film
from tests.media.test_image import tiny_frames

LARGE = (8191, 8192)
MOMENT = timedelta(0)


def png(into: Path, size: tuple[int, int] = LARGE) -> Path:
    """A picture without anything to see, made row by row."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    packed, row = zlib.compressobj(1), bytes(1 + 3 * size[0])
    rows = b"".join(packed.compress(row) for _ in range(size[1])) + packed.flush()
    header = struct.pack(">IIBBBBB", *size, 8, 2, 0, 0, 0)
    into.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    return into


def together(*files: Path) -> tuple[list[str], int]:
    """What comes of files that are looked at at the same time, and how many megabytes that takes."""
    family = [sys.executable, "-m", "tests.media.family", *map(str, files)]
    told = subprocess.run(family, capture_output=True, check=True, cwd=Path(__file__).parents[2]).stdout
    found = json.loads(told)
    return found["found"], found["megabytes"]


def test_six_pictures_of_a_few_bytes_are_refused_by_their_headers(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.webp"
    Image.new("RGB", LARGE).save(bomb, lossless=True)
    assert bomb.stat().st_size < 3000
    found, megabytes = together(*[bomb] * 6)
    assert found == ["too-much-to-decode"] * 6
    assert megabytes < 150


def test_six_large_pictures_are_decoded_one_after_the_other(tmp_path: Path) -> None:
    found, megabytes = together(*[png(tmp_path / "large.png")] * 6)
    assert set(found) <= {"sound", "decoding-busy"}
    assert "sound" in found
    assert megabytes < 600


def test_small_films_of_many_pixels_take_no_more_than_one_may(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.mp4"
    coded = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-threads", "1")
    kept_frames = ("-x264-params", "ref=16:keyint=300")
    source = ("-f", "lavfi", "-i", "color=size=8192x8192:rate=10")
    run([*source, "-frames:v", "8", *coded, *kept_frames, writing(bomb)])
    assert bomb.stat().st_size < 200_000
    found, megabytes = together(*[bomb] * 3)
    assert set(found) <= {"too-much-to-decode", "decoding-busy"}
    assert "too-much-to-decode" in found
    assert megabytes < 600


@pytest.mark.parametrize(
    ("form", "options"),
    [("png", {}), ("jpeg", {}), ("jpeg", {"progressive": True, "subsampling": 0}), ("webp", {}), ("gif", {})],
    ids=["png", "jpeg", "progressive", "webp", "gif"],
)
def test_a_picture_of_everyday_is_taken(tmp_path: Path, form: str, options: dict[str, object]) -> None:
    drawn = Image.effect_noise((960, 540), 60).resize((3840, 2160)).convert("RGB")
    drawn.save(tmp_path / "picture", format=form, **options)
    found = sound_image(tmp_path / "picture").picture
    assert found is not None
    assert (found.width, found.height) == (3840, 2160)


@pytest.mark.parametrize("size", ["1920x1080", "3840x2160"])
def test_a_film_of_everyday_is_taken(tmp_path: Path, size: str) -> None:
    coded = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-x264-params", "ref=16")
    source = ("-f", "lavfi", "-i", f"testsrc2=size={size}:rate=24")
    run([*source, "-frames:v", "24", *coded, writing(tmp_path / "film.mp4")])
    found = sound_video(tmp_path / "film.mp4").picture
    assert found is not None
    assert (f"{found.width}x{found.height}", found.frames) == (size, 24)


def test_a_decoder_is_kept_for_the_next_file(tmp_path: Path) -> None:
    clip = film(tmp_path / "film.mp4", 0.5)
    probe(clip)
    before = kept()
    probe(clip)
    assert kept() == before
    assert before


def test_a_decoder_that_has_died_while_it_waited_is_replaced_unseen(tmp_path: Path) -> None:
    clip = film(tmp_path / "film.mp4", 0.5)
    probe(clip)
    dead = kept()
    for pid in dead:
        os.kill(pid, signal.SIGKILL)
    assert probe(clip).picture is not None
    assert not kept() & dead


def test_a_decoder_that_wants_too_much_memory_says_so_and_is_replaced(tmp_path: Path) -> None:
    picture = png(tmp_path / "picture.png", (4000, 4000))
    for _ in range(2):
        with pytest.raises(TooMuchToDecode, match="more than 8 MB of memory"):
            apart("decode_image", picture, memory=8 << 20, limit=MOMENT, pixels=MOST_PIXELS, frames=1)
    assert sound_image(picture).picture is not None


def test_a_decoder_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    """By the system, which counts the seconds of the processor: it may take one."""
    slow = tiny_frames(tmp_path / "slow.gif", *[0] * 900, canvas=4000)
    with pytest.raises(UnusableFile, match="takes too long"):
        apart("decode_image", slow, memory=400 << 20, limit=MOMENT, pixels=1 << 40, frames=1000)
    assert probe(film(tmp_path / "film.mp4", 0.5)).picture is not None


def test_a_decoder_knows_no_secrets_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_SECRET", "open sesame")
    for pid in kept():
        os.kill(pid, signal.SIGKILL)
    probe(film(tmp_path / "film.mp4", 0.5))
    for pid in kept():
        assert b"sesame" not in Path(f"/proc/{pid}/environ").read_bytes()
    assert kept()


def test_a_decoder_ends_with_whoever_has_started_it(tmp_path: Path) -> None:
    clip = film(tmp_path / "film.mp4", 0.5)
    code = (
        "import os, sys; from pathlib import Path; from penstock.media.apart import kept; "
        "from penstock.media.probe import probe; probe(Path(sys.argv[1])); print(*kept(), flush=True); os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(clip)], capture_output=True, check=False)
    (pid,) = map(int, done.stdout.split())
    until = time.monotonic() + 30
    while Path(f"/proc/{pid}/stat").exists() and b") Z " not in Path(f"/proc/{pid}/stat").read_bytes():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_who_finds_no_room_is_asked_to_come_again() -> None:
    room = Room(100, at_once=2)
    with room.taken(60), room.taken(40):
        with pytest.raises(DecodingBusy, match="try again") as refused, room.taken(1, patience=MOMENT):
            pass
        assert (refused.value.http_status, refused.value.slug) == (503, "decoding-busy")
    with room.taken(60), pytest.raises(DecodingBusy), room.taken(41, patience=MOMENT):
        pass
    with room.taken(1000):
        "more than there is means all of it"


def test_room_is_given_back_whatever_happens_and_never_given_twice() -> None:
    room, most, inside = Room(TOTAL), [0], [0]
    barrier = Barrier(8)

    def worker(number: int) -> None:
        barrier.wait()
        for n in range(50):
            try:
                with room.taken(TOTAL // (1 + (number + n) % 4)):
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    inside[0] -= 1
                    if n % 3 == 0:
                        raise ValueError
            except ValueError:
                pass

    threads = [Thread(target=worker, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert most[0] <= AT_ONCE
    with room.taken(TOTAL, patience=MOMENT):
        "nothing of it is taken"


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("png", {}),
        ("jpeg", {"exif": b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0"}),
        ("jpeg", {"progressive": True}),
        ("webp", {"lossless": True}),
        ("webp", {"quality": 50}),
        ("webp", {"save_all": True, "append_images": [Image.new("RGB", (301, 203), "red")]}),
        ("gif", {}),
    ],
)
def test_a_header_tells_the_size_a_decoder_will_find(tmp_path: Path, form: str, options: dict[str, object]) -> None:
    Image.new("RGB", (301, 203)).save(tmp_path / "picture", format=form, **options)
    header = header_of(tmp_path / "picture")
    assert header is not None
    assert (header.width, header.height) == (301, 203)


def test_an_animated_png_needs_more_than_one_that_stands_still(tmp_path: Path) -> None:
    one, other = Image.new("RGB", (30, 20)), Image.new("RGB", (30, 20), "red")
    one.save(tmp_path / "still.png")
    one.save(tmp_path / "moving.png", save_all=True, append_images=[other])
    still, moving = header_of(tmp_path / "still.png"), header_of(tmp_path / "moving.png")
    assert still is not None
    assert moving is not None
    assert moving.memory > 2 * still.memory


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(
        [b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"\xff\xd8\xff\xe1\0", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8X", b""]
    ),
    st.binary(max_size=300),
)
def test_no_header_is_too_strange_to_be_read(tmp_path: Path, beginning: bytes, rest: bytes) -> None:
    (tmp_path / "strange").write_bytes(beginning + rest)
    header = header_of(tmp_path / "strange")
    assert header is None or header.memory >= 0
