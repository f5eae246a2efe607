"""Without the extra nothing breaks until it is needed, and then the line to install it is told."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from penstock.errors import Misconfigured
from penstock.media import ffmpeg
from penstock.media.probe import probe
from penstock.media.soundness import sound_image
from tests.media.films import tone


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the packages of the extra were not there."""
    for name in ("av", "PIL", "imageio_ffmpeg"):
        for module in [m for m in sys.modules if m.partition(".")[0] == name]:
            monkeypatch.delitem(sys.modules, module)
    found = PathFinder.find_spec

    def find(fullname: str, *rest: object) -> object:
        return None if fullname in ("av", "PIL", "imageio_ffmpeg") else found(fullname, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(PathFinder, "find_spec", find)


def test_a_missing_package_is_named_and_how_to_install_it(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    tone(tmp_path / "tone.wav", 0.1)
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    request.getfixturevalue("nothing_installed")
    line = r"run: pip install 'penstock\[media\]'"
    with pytest.raises(Misconfigured, match=f"^av is not installed; {line}"):
        probe(tmp_path / "tone.wav")
    with pytest.raises(Misconfigured, match=f"^pillow is not installed; {line}"):
        sound_image(tmp_path / "image.png")
    with pytest.raises(Misconfigured, match=f"^imageio-ffmpeg is not installed; {line}"):
        ffmpeg.run([])


def test_importing_needs_none_of_them() -> None:
    modules = "ffmpeg, frame_encoder, probe, soundness, thumbnail, image, whole, errors"
    heavy = "{'av', 'PIL', 'imageio_ffmpeg', 'numpy'}"
    code = f"from penstock.media import {modules}; import sys; sys.exit(' '.join({heavy} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
