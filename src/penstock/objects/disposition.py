"""Content-Disposition: whether a browser saves a file or shows it, and under which name."""

from __future__ import annotations

from urllib.parse import quote

from penstock.errors import InvalidValue
from penstock.media.content_type import SHOWN_INLINE

_LONGEST_NAME = 200
# Of RFC 5987's attr-char, what quote() would escape although it need not.
_PLAIN = "!#$&+-.^_`|~"


def disposition(filename: str | None, *, inline: bool) -> str:
    """The header's value. A name in any script is given twice: plainly, for the old, and as RFC 5987 has it."""
    kind = "inline" if inline else "attachment"
    name = saved_as(filename)
    if name is None:
        return kind
    plain = "".join(c if c.isascii() and c not in '"\\%' else "_" for c in name)
    named = f'{kind}; filename="{plain}"'
    return named if plain == name else f"{named}; filename*=UTF-8''{quote(name, safe=_PLAIN)}"


def saved_as(filename: str | None) -> str | None:
    """The name under which a file is saved; None when nothing is left of it.

    Only the last part of a path, and nothing that a header, a shell or a desktop would take for more than a name.
    """
    if filename is None:
        return None
    last = filename.replace("\\", "/").rpartition("/")[2]
    return "".join(c for c in last if c.isprintable())[:_LONGEST_NAME] or None


def checked_show_as(show_as: str | None) -> None:
    """Refuse to have a file shown as something that could run."""
    if show_as is not None and show_as not in SHOWN_INLINE:
        raise InvalidValue(f"{show_as!r} is not shown in place, only saved; leave show_as out")
