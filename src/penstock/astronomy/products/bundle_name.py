"""Names of files in a bundle: such that every system can unpack them, and none outside the folder it was told."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from penstock.errors import InvalidValue

_LONGEST, _LONGEST_PART = 400, 200
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
_DEVICES = {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(1, 10))}
"Names that mean a device on Windows, with any suffix."


def what_is_wrong(name: str) -> str | None:
    """Why a name is not safe; None if it is."""
    if not name or len(name.encode("utf-8", "replace")) > _LONGEST:
        return f"a name has 1 to {_LONGEST} bytes"
    if not name.isprintable() or _FORBIDDEN.search(name):
        return "it has a character that some systems cannot have in a file's name"
    return next((wrong for part in name.split("/") if (wrong := _wrong_part(part))), None)


def _wrong_part(part: str) -> str | None:
    if part in ("", ".", ".."):
        return "it is not a plain path within a folder"
    if part != part.strip() or part.endswith("."):
        return "a part of it begins or ends with a space, or ends with a dot"
    if len(part.encode()) > _LONGEST_PART:
        return f"a part of it has more than {_LONGEST_PART} bytes"
    if part.partition(".")[0].lower() in _DEVICES:
        return "it means a device on some systems"
    return None


def check_names(names: Sequence[str], *, reserved: Sequence[str] = ()) -> None:
    """That all names are safe, and no two would be one file, or file and folder, on any system."""
    files = {_folded(name): name for name in reserved}
    folders: dict[str, str] = {}
    for name in names:
        if wrong := what_is_wrong(name):
            raise InvalidValue(f"{name[:100]!r} cannot be a name in a bundle: {wrong}")
        if taken := files.get(_folded(name)):
            raise InvalidValue(f"{name!r} and {taken!r} are one name on some systems; give another")
        files[_folded(name)] = name
        parts = _folded(name).split("/")[:-1]
        folders.update({"/".join(parts[: count + 1]): name for count in range(len(parts))})
    if both := files.keys() & folders.keys():
        first = min(both)
        raise InvalidValue(f"{files[first]!r} is a file, and {folders[first]!r} needs a folder of that name")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
