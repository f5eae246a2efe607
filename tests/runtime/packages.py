"""Packages as strangers write and install them: a module, and the metadata that pip leaves of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

DOMAIN = """
from penstock import Domain, Entity, Table, key
from penstock.plugin import DomainPlugin

class Thing(Entity, table=Table("{name}", partition="PK")):
    title: str

    @key("THING#{{title}}")
    def at(self, *, title: str) -> None: ...

DOMAIN = Domain("{name}", Thing)
PLUGIN = DomainPlugin(DOMAIN{more})
"""


class Packages:
    """A folder that Python imports from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: list[str] = []

    def write(self, module: str, text: str) -> None:
        """A module that nobody registers."""
        self.modules.append(module)
        (self.folder / f"{module}.py").write_text(text)

    def install(self, name: str, *, module: str | None = None, text: str | None = None, more: str = "") -> None:
        """A domain, as an entry point of a distribution of its own."""
        module = module or f"stranger_{name}"
        self.write(module, text if text is not None else DOMAIN.format(name=name, more=more))
        metadata = self.folder / f"{module}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[penstock.domains]\n{name} = {module}:PLUGIN\n")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Packages]:
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    made = Packages(folder)
    yield made
    for module in made.modules:
        sys.modules.pop(module, None)
