"""Another process that writes to the store of a console."""

from __future__ import annotations

import subprocess
import sys

from penstock import open_store
from tests.web.films import Film


def film_from_elsewhere(store: str, title: str) -> None:
    """A process of its own makes a film, and ends."""
    subprocess.run([sys.executable, "-m", __name__, store, title], check=True, timeout=120)


def main() -> None:
    store = open_store(sys.argv[1])
    store.create(Film(project_id="p1", title=sys.argv[2], created_at=store.clock.now()))
    store.close()


if __name__ == "__main__":
    main()
