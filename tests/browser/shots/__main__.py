"""Takes pictures of every screen, light and dark, into a folder: `make shots`.

`python -m tests.browser.shots FOLDER NAME…` takes those of some places only.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.browser.driver import started

from .camera import take
from .full_house import full_house
from .places import places
from .stories import settings_of, tell_all


def main(target: Path, *names: str) -> None:
    target.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="penstock-shots-") as scratch:
        folder = Path(scratch)
        with full_house(folder, settings_of(folder / "sky", fine=True)) as house:
            tell_all(house)
            chosen = [place for place in places(house.made) if not names or place.name in names]
            driver = started()
            try:
                with driver.at_work() as browser:
                    for path in take(browser, house, chosen, target):
                        print(path)
            finally:
                driver.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
