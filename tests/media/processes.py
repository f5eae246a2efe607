"""What runs below this process."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.media.apart import kept


def children() -> set[int]:
    """The processes this one has started, dead ones that nobody has waited for too; decoders are kept on purpose."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if parent == os.getpid():
            found.add(int(stat.parent.name))
    return found - kept()
