"""An archive of files on this machine: a real local index, whose files and failures a test decides."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.domains.novae.providers.acquisition import Acquisition
from penstock.domains.novae.providers.local_index import LocalIndex
from penstock.domains.novae.providers.provider import NovaQuery, ProductSearch

NOVA = "V1324 Sco"


@dataclass
class Archive:
    """One provider, known by its name."""

    name: str
    folder: Path
    fails: Callable[[], None] = lambda: None
    asked: list[NovaQuery] = field(default_factory=list)
    _files: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._index = LocalIndex(self.name, self.folder)
        self._write()

    @property
    def index(self) -> LocalIndex:
        return self._index

    def publish(self, file: str, data: bytes, *, kind: str = "spectra", **told: Any) -> None:
        """Have a file, known by its name; published again it is another edition."""
        (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / file).write_bytes(data)
        self._files.setdefault(kind, {})[file] = {"file": file, "id": told.pop("id", file), **told}
        self._write()

    def withdraw(self, file: str) -> None:
        (self.folder / file).unlink()

    def products(self, nova: NovaQuery) -> ProductSearch:
        self.asked.append(nova)
        self.fails()
        return self._index.products(nova)

    def photometry(self, nova: NovaQuery) -> ProductSearch:
        self.fails()
        return self._index.photometry(nova)

    def _write(self) -> None:
        novae = [{"name": NOVA, **{kind: list(files.values()) for kind, files in self._files.items()}}]
        (self.folder / "manifest.json").write_text(json.dumps({"novae": novae}))


@dataclass
class Downloads:
    """Brings the files of archives, counts how often, and fails when it is told to."""

    archives: list[Archive] = field(default_factory=list)
    brought: list[str] = field(default_factory=list)
    fails: Callable[[str], None] = lambda identity: None

    def acquire(self, product: Any, folder: Path, **options: Any) -> Any:
        self.brought.append(product.identity)
        self.fails(product.identity)
        real = Acquisition(locals={each.name: each.index for each in self.archives})
        return real.acquire(product, folder, **options)
