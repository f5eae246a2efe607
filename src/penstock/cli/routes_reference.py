"""The reference of routes and who may use them, written from the application that serves them.

python -m penstock.cli.routes_reference > docs/reference/routes.md
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from penstock.auth.access import Access
from penstock.plugin import DomainPlugin
from penstock.runtime.discovery import discover
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.web.record_route import ClosedRoute
from penstock.web.records import questions_of
from penstock.web.route import AdmittedRoute

_HEAD = """
# Routes

Every route of the service as it ships, and who may use it. Viewer, editor, admin: a role may do what those before may.
A key that is bound to a project sees that project only. "Anybody" needs no key, and may ask so many times a minute from
one address. What a declaration leaves to the system, or to an action of its domain, has no derived route; a POST there
is refused with the reason (`not-permitted`). Besides these, `/objects/…` serves the local files that signed URLs lead
to, to whoever has the URL.
"""


def routes_page(installed: Sequence[DomainPlugin]) -> str:
    """The whole page."""
    return _HEAD.lstrip() + "".join(
        _section(tag, rows) for tag, rows in groupby(_rows(installed), key=lambda row: row[0])
    )


def shipped_api(installed: Sequence[DomainPlugin]) -> Any:
    """The application with these domains; nothing is connected."""
    service = Service(Settings(store="sqlite:///:memory:"), installed)
    return build_api(service.installed, service.context, options=WebOptions())


def _rows(installed: Sequence[DomainPlugin]) -> Iterator[tuple[str, str]]:
    """The tag and the line of each method of each route."""
    for route in shipped_api(installed).routes:
        if isinstance(route, AdmittedRoute) and not isinstance(route, ClosedRoute):
            tag = str(next(iter(route.tags), "service"))
            for method in sorted(route.methods or ()):
                for question, access in questions_of(route):
                    yield tag, f"| `{method} {route.path_format}{question}` | {_who(access)} |\n"


def _section(tag: str, rows: Iterator[tuple[str, str]]) -> str:
    return f"\n## {tag}\n\n| | who |\n|---|---|\n" + "".join(line for _, line in rows)


def _who(access: Access) -> str:
    if access.role is not None:
        return str(access.role.value)
    return "anybody" if access.per_minute is None else f"anybody, {access.per_minute} a minute"


if __name__ == "__main__":
    print(routes_page(discover(Settings())), end="")
