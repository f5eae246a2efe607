"""A file is there whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp


@contextmanager
def whole(into: Path) -> Iterator[Path]:
    """A path to write to, beside ``into``. It becomes ``into`` if all goes well, and vanishes if not."""
    handle, name = mkstemp(dir=into.parent, prefix=".unfinished-", suffix=into.suffix)
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.replace(into)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
