"""The tree that is tried: its source, its tests, and digests of both."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from mutants.mutant import ROOT


@dataclass(frozen=True)
class Tree:
    """A repository: packages below `source`, tests anywhere. A file is read once."""

    root: Path = ROOT
    source: str = "src"
    _texts: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def text(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = (self.root / path).read_text()
        return self._texts[path]

    def digest(self, path: str) -> str:
        return hashlib.sha256(self.text(path).encode()).hexdigest()[:16]

    def module(self, path: str) -> str:
        """How a file is imported."""
        return ".".join(Path(path).relative_to(self.source).with_suffix("").parts).removesuffix(".__init__")

    def files(self, folder: str, pattern: str = "*.py") -> list[str]:
        """The files below a folder, or the one file that it is."""
        place = self.root / folder
        found = [place] if place.is_file() else sorted(place.rglob(pattern))
        return [str(path.relative_to(self.root)) for path in found if "__pycache__" not in path.parts]
