"""The two pages for people: where one begins, and what the API can do. They need nothing from anywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from urllib.parse import urlencode

from penstock.plugin import DomainPlugin
from penstock.schema.kinds import Kind

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'"
)
"No page may load anything, and no other page may hold ours."
_KEYS = "Whoever has no API key is a guest; that of this machine is in <code>.penstock/key</code>, as a header."
HEADERS = {"Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'", "Cache-Control": "no-cache"}


def start_page(installed: Sequence[DomainPlugin], *, authentication: bool, url: str) -> str:
    """What is running, and what to try."""
    rows = "".join(
        f"<tr><th scope=row>{escape(i.domain.name)}</th>"
        f"<td>{', '.join(escape(s.collection) for s in i.domain.shapes)}</td></tr>"
        for i in installed
    )
    keys = _KEYS if authentication else "Keys are off: everybody is an administrator."
    header = " -H @.penstock/key" if authentication else ""
    return (
        _page("start.html")
        .replace("{{domains}}", rows)
        .replace("{{keys}}", keys)
        .replace("{{example}}", escape(url + _example(installed)))
        .replace("{{header}}", escape(header))
    )


def docs_page() -> str:
    """The API, drawn from /openapi.json, with a form to try each operation."""
    return _page("docs.html")


def _page(name: str) -> str:
    return files("penstock.web").joinpath("html", name).read_text(encoding="utf-8")


def _example(installed: Sequence[DomainPlugin]) -> str:
    """A list that can be asked for without knowing any record."""
    for each in installed:
        for pattern in each.domain.patterns:
            fields = [pattern.entity.fields[n] for n in pattern.parameters if n != pattern.ranged]
            if fields and all(f.kind is Kind.CHOICE for f in fields):
                asked = urlencode({"pattern": pattern.name, **{f.name: next(iter(f.python)).value for f in fields}})
                return f"/api/{each.domain.name}/{pattern.entity.collection}?{asked}"
    return "/healthz"
