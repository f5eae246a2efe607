"""Films for these tests, made here."""

from __future__ import annotations

from pathlib import Path

from penstock.media.ffmpeg import run, writing


def made(into: Path, *, seconds: float = 2.0, size: str = "320x180", rate: int = 25, sound: bool = True) -> Path:
    """A film of moving colours, with a tone."""
    pictures = ["-f", "lavfi", "-i", f"testsrc2=size={size}:rate={rate}:duration={seconds}"]
    tone = ["-f", "lavfi", "-i", f"sine=frequency=330:duration={seconds}"] if sound else []
    coded = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", *(["-c:a", "aac"] if sound else [])]
    run([*pictures, *tone, *coded, writing(into)])
    return into
