"""A product is there whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write to, beside ``path``. It becomes ``path`` if all goes well, and vanishes if not."""
    handle, name = mkstemp(dir=path.parent, prefix=".unfinished-", suffix=path.suffix)
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.chmod(0o644)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
