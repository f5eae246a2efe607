"""What others have said, as far as it may be repeated: short, on one line, without secrets, and for the log."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from urllib.parse import quote

LONGEST_WORDS = 300
"Characters of somebody else's words that are repeated."
_LOOKED_AT = 16 * 1024
"Characters that are looked through for them: an answer may be long."


def _without_query(address: re.Match[str]) -> str:
    plain, mark, _ = address[0].partition("?")
    return f"{plain}?…" if mark else plain


_SECRETS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\b(bearer|token|basic) {1,4}(?=[^ ]{0,200}\d)[\w.~+/=-]{8,}", re.I), r"\1 …"),
    (re.compile(r"data:[\w/+.;=-]{0,200},[\w+/=%-]*"), "data:…"),
    (re.compile(r"(https?://)[^\s/@\"'<>]{0,200}@", re.I), r"\1"),
    # All of an address is taken, and then cut: looking for the mark would begin anew at each address within.
    (re.compile(r"https?://[^\s\"'<>]*", re.I), _without_query),
    (re.compile(r"<[^<>]{0,500}>"), " "),
)
"What may open something, should somebody repeat it: and tags of a page, which say nothing."


def excerpt(said: bytes | str, *, secrets: Iterable[str] = ()) -> str:
    """The sentence in what somebody else has said."""
    text = said if isinstance(said, str) else _sentence(said.decode(errors="replace"))
    text = text[:_LOOKED_AT]
    for secret in secrets:
        for written in (secret, quote(secret, safe="")):
            text = text.replace(written, "…")
    text = _folded(text)
    for found, shown in _SECRETS:
        text = found.sub(shown, text)
    text = _folded(text)
    return text if len(text) <= LONGEST_WORDS else text[: LONGEST_WORDS - 1] + "…"


def fit_to_show(header: str | None) -> str | None:
    """A header's value, if it is short and printable."""
    return header if header and len(header) <= 40 and header.isascii() and header.isprintable() else None


def _folded(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _sentence(text: str) -> str:
    """The sentence in an error's body, wherever services put it."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "detail", "message", "msg", "title"):
        while isinstance(said, dict) and said.get(name):
            said = said[name]
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
