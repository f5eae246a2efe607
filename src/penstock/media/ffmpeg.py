"""ffmpeg, run so that neither a strange file nor a stuck process can do harm.

It is started without a shell in a process group of its own, cannot be asked anything, and is ended when its time is
over or when whoever waits for it does not want to any more. A file that is read may be one of the usual containers and
nothing else: playlists and scripts that name other files or hosts are not opened.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from threading import Lock
from typing import Any, TypeAlias

from penstock.errors import Misconfigured
from penstock.media.errors import FfmpegFailed, FfmpegTooLarge, FfmpegTooSlow
from penstock.media.extra import need

Raw: TypeAlias = Any
"Bytes, or an array of them: whatever has a buffer, which Python 3.11 has no type for."

CONTAINERS = (
    *("mov", "matroska", "avi", "flv", "mpeg", "mpegts", "mpegvideo", "mxf", "dv", "asf", "ogg"),
    *("wav", "w64", "aiff", "caf", "mp3", "aac", "flac", "ac3", "amr"),
)
"The demuxers a file may be read by. None of them opens a second file."
GUARDS = {"protocol_whitelist": "file", "format_whitelist": ",".join(CONTAINERS)}
"How libavformat is told so, here and through PyAV."
MOST_PIXELS = 8192 * 8192
"A picture larger than this is not even decoded."

EXACT = ("-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact", "-map_metadata", "-1")
"The same input gives the same bytes: no versions, no moments."
BT709 = ("-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv")
H264 = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p", "-threads:v", "2", *BT709)
"What every browser plays. The number of threads is fixed because the bytes depend on it."
AAC = ("-c:a", "aac", "-b:a", "192k", "-ar", "48000", "-ac", "2")
MP4 = (*EXACT, "-movflags", "+faststart", "-f", "mp4")

TICK = 0.25
"Seconds between two times that progress is told."
_ANSWERS = 20.0
"Seconds in which it says who it is."
_GRACE = 0.5
"Seconds to end by itself; nobody wants what it might still write."
_LONG = timedelta(minutes=10)
"From then on it ends with the process that waits for it, also if that is killed; it is started a little later so."
_WITH_ITS_PARENT = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""
_ENVIRONMENT = {"GCONV_PATH": "/nonexistent"}
"""All that it is told of where it runs: what a service knows is nothing for one who reads strangers' files.

No converters of texts are found there. MPEG-TS names its channels in old alphabets, and an ffmpeg that is linked
statically crashes when it loads this machine's converters for them; without one it goes on.
"""
_MOST_MEMORY = 4 << 30
"For work on files that were looked at; a file that was not may have far less."
_WANTED_MORE = (b"Cannot allocate memory", b"Could not allocate memory", b"pthread_create() failed")
_LOG = 64 * 1024
_TAIL = 1200

_lock = Lock()
_spent = 0.0


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of one run."""

    seconds: float
    "On the wall, inside ffmpeg."
    frames: int
    "Pictures that went out."
    complaints: int
    "Lines ffmpeg said."
    log: str
    "The last of them."


def binary() -> str:
    """Where ffmpeg is."""
    need("imageio_ffmpeg")
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        raise Misconfigured(f"there is no ffmpeg for this machine: {error}") from None


def version_of_ffmpeg() -> str:
    """Which ffmpeg it is; Misconfigured if it does not even say that."""
    try:
        told = subprocess.run(
            [binary(), "-version"], capture_output=True, timeout=_ANSWERS, env=_ENVIRONMENT, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Misconfigured(f"{binary()} does not run: {error}; install imageio-ffmpeg anew") from None
    return " ".join(told.stdout.decode(errors="replace").split()[:3])


def spent() -> float:
    """Seconds this process has spent inside ffmpeg, all its threads together."""
    return _spent


def reading(path: Path, *options: str) -> list[str]:
    """Arguments that read a file, whatever its name and whatever it turns out to be."""
    guards = [part for name, value in GUARDS.items() for part in (f"-{name}", value)]
    return [*options, *guards, "-max_pixels", str(MOST_PIXELS), "-i", writing(path)]


def writing(path: Path) -> str:
    """The path as an argument that cannot be taken for an option or for a protocol."""
    return f"file:{path.absolute()}"


def run(
    arguments: Sequence[str],
    *,
    limit: timedelta = timedelta(minutes=10),
    progress: Callable[[float], None] | None = None,
    feed: Iterable[Raw] | None = None,
    level: str = "error",
    memory: int = _MOST_MEMORY,
    folder: Path | None = None,
    tick: float = TICK,
) -> Ran:
    """Run ffmpeg to its end, with so much memory at most.

    ``progress`` is told the seconds of output there are, once in ``tick`` seconds, even when there are no more than
    before; what it raises ends ffmpeg and goes through. ``feed`` is what ffmpeg reads from ``pipe:0``. Relative names
    are within ``folder``.
    """
    begun = time.monotonic()
    session = _Session(begun + limit.total_seconds(), progress, iter(()) if feed is None else iter(feed), tick)
    command = [binary(), "-hide_banner", "-nostdin", "-nostats", "-y", "-loglevel", f"repeat+{level}"]
    # If this process is killed there is nobody left to end ffmpeg; then it ends itself, sooner or later.
    command += ["-timelimit", str(int(limit.total_seconds() + 1) * (os.cpu_count() or 1))]
    if limit >= _LONG and sys.platform == "linux":
        command = [sys.executable, "-I", "-S", "-c", _WITH_ITS_PARENT, str(os.getpid()), *command]
    command += ["-progress", "pipe:1", "-stats_period", str(tick), *arguments]
    try:
        with _started(command, fed=feed is not None, memory=memory, folder=folder) as process:
            session.attend(process)
    finally:
        seconds = time.monotonic() - begun
        _count(seconds)
    if process.returncode != 0 and any(words in session.log for words in _WANTED_MORE):
        raise FfmpegTooLarge(f"ffmpeg wanted more than the {memory >> 20} MB of memory it may have")
    if process.returncode != 0:
        raise FfmpegFailed(f"ffmpeg gave up ({process.returncode}): {_last_words(session.log)}")
    return Ran(seconds, session.frames, session.complaints, session.log.decode(errors="replace"))


def seen_as_bytes(raw: Raw) -> memoryview:
    """As they follow each other in C order; copied only if they do not."""
    view = memoryview(raw)
    return view.cast("B") if view.c_contiguous else memoryview(view.tobytes())


class _Session:
    """One ffmpeg while it runs: what goes in, what it says, how long it may."""

    def __init__(
        self, deadline: float, progress: Callable[[float], None] | None, feed: Iterator[Raw], tick: float
    ) -> None:
        self._deadline, self._progress, self._feed, self._tick = deadline, progress, feed, tick
        self._unsent = memoryview(b"")
        self._news = b""
        self._told = 0.0
        self._seconds = 0.0
        self.frames = 0
        self.complaints = 0
        self.log = b""

    def attend(self, process: subprocess.Popen[bytes]) -> None:
        """Until it has ended by itself."""
        with DefaultSelector() as selector:
            assert process.stdout is not None
            assert process.stderr is not None
            selector.register(process.stdout, EVENT_READ, self._hear_progress)
            selector.register(process.stderr, EVENT_READ, self._hear_complaint)
            if process.stdin is not None:
                selector.register(process.stdin, EVENT_WRITE, self._send)
            while selector.get_map():
                for key, _ in selector.select(self._tick):
                    if not key.data(key.fd):
                        selector.unregister(key.fileobj)
                        key.fileobj.close()  # type: ignore[union-attr]
                self._look_up()
        try:
            process.wait(max(self._deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            raise self._too_slow() from None

    def _look_up(self) -> None:
        now = time.monotonic()
        if now > self._deadline:
            raise self._too_slow()
        if self._progress is not None and now - self._told >= self._tick:
            self._told = now
            self._progress(self._seconds)

    def _too_slow(self) -> FfmpegTooSlow:
        return FfmpegTooSlow(f"ffmpeg was ended after the time it may take; its last words: {_last_words(self.log)}")

    def _send(self, pipe: int) -> bool:
        """Send some; False when there is no more, or nobody to read it."""
        if not self._unsent:
            following = next(self._feed, None)
            if following is None:
                return False
            self._unsent = seen_as_bytes(following)
        try:
            self._unsent = self._unsent[os.write(pipe, self._unsent) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            # It has ended early, and its exit code will say why.
            return False
        return True

    def _hear_progress(self, pipe: int) -> bool:
        heard = os.read(pipe, _LOG)
        *lines, self._news = (self._news + heard).split(b"\n")
        for line in lines:
            name, _, value = line.partition(b"=")
            if name == b"frame" and value.isdigit():
                self.frames = int(value)
            elif name == b"out_time_us" and value.isdigit():
                self._seconds = int(value) / 1e6
        return bool(heard)

    def _hear_complaint(self, pipe: int) -> bool:
        heard = os.read(pipe, _LOG)
        self.complaints += heard.count(b"\n")
        self.log = (self.log + heard)[-_LOG:]
        return bool(heard)


@contextmanager
def _started(
    command: Sequence[str], *, fed: bool, memory: int, folder: Path | None
) -> Iterator[subprocess.Popen[bytes]]:
    """The process; ended, with all its group, if anything is raised."""
    process = subprocess.Popen(
        command,
        bufsize=0,
        stdin=subprocess.PIPE if fed else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd=folder,
        env=_ENVIRONMENT,
    )
    _bound(process, memory)
    if process.stdin is not None:
        os.set_blocking(process.stdin.fileno(), False)
    with process:
        try:
            yield process
        except BaseException:
            _end(process)
            raise


def _bound(process: subprocess.Popen[bytes], memory: int) -> None:
    """Before it has read anything. What it maps and never writes to is not counted, for it is never there."""
    if sys.platform == "linux":
        with suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (memory, memory))
            resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))


def _end(process: subprocess.Popen[bytes]) -> None:
    # It might wait for somebody to read what it says.
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    for insistence in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, insistence)
            process.wait(_GRACE)
        except ProcessLookupError:
            process.wait()
        except subprocess.TimeoutExpired:
            continue
        return


def _count(seconds: float) -> None:
    global _spent
    with _lock:
        _spent += seconds


def _last_words(log: bytes) -> str:
    """The end of what it said, without addresses of its memory and folders of this machine."""
    text = log.decode(errors="replace").strip()[-_TAIL:]
    text = re.sub(r" @ 0x[0-9a-f]+", "", text)
    return re.sub(r"file:\S*", lambda path: path[0][5:].rpartition("/")[2], text) or "nothing"
