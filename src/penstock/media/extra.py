"""The packages media are read and made with; nobody else needs them, so they are an extra."""

from __future__ import annotations

from importlib.util import find_spec

from penstock.errors import Misconfigured

_PACKAGES = {"imageio_ffmpeg": "imageio-ffmpeg", "PIL": "pillow"}
"Those that are installed under another name than they are imported by."


def need(module: str) -> None:
    """That a package can be imported; if not, the line that installs it."""
    if find_spec(module) is None:
        package = _PACKAGES.get(module, module)
        raise Misconfigured(f"{package} is not installed; run: pip install 'penstock[media]'")
