"""No file of the project names where its packages come from: that is for whoever installs them to say."""

from __future__ import annotations

import re
import subprocess

from tests.house.rooms import ROOT

REGISTRIES = re.compile("|".join(("py" + r"pi\.org", "python" + "hosted", r"registry\." + "npmjs")), re.IGNORECASE)


def test_no_file_names_a_package_registry() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name in filter(None, listed.split("\n"))
        if (ROOT / name).is_file()
        for number, line in enumerate((ROOT / name).read_text(errors="replace").splitlines(), 1)
        if REGISTRIES.search(line)
    ]
    assert found == []
