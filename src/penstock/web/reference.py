"""The reference of errors, written from the errors themselves.

python -m penstock.web.reference > docs/reference/errors.md
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import penstock
from penstock.errors import PenstockError, title_of
from penstock.web.hints import hint_of

_HEAD = """
# Errors

Every error of the API is `application/problem+json`:

```json
{
  "type": "not-found",
  "title": "No live record stands at this key",
  "status": 404,
  "detail": "there is no Project(project_id=0190d1f0-0000-7000-8000-000000000001)",
  "hint": "Look for the record with one of its patterns; it may have expired, or be of another project.",
  "request_id": "019b7a3e-5c1d-7f0a-9d53-2f6d1c0b8a44"
}
```

`type` is one of the slugs below, `hint` says what to do, and `request_id` (also the header `X-Request-ID`) finds the
request in the log. `invalid-request` lists every field that does not fit in `fields`. In Python each of them is a
class; the command line says the same in a sentence.
"""


def all_errors() -> list[type[PenstockError]]:
    """Every kind of error there is in the package, by its slug; one slug is one kind."""
    for module in pkgutil.walk_packages(penstock.__path__, "penstock."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds: dict[str, type[PenstockError]] = {}
    for kind in _kinds(PenstockError):
        if kind.__module__.startswith("penstock."):
            kinds.setdefault(kind.slug, kind)
    return [kinds[slug] for slug in sorted(kinds)]


def errors_page() -> str:
    """The whole page."""
    return _HEAD.lstrip() + "".join(_section(kind) for kind in all_errors())


def _section(kind: type[PenstockError]) -> str:
    return f"\n## {kind.slug}\n\n`{kind.http_status}` {title_of(kind)}.\n\n{hint_of(kind)}\n"


def _kinds(kind: type[PenstockError]) -> Iterator[type[PenstockError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)


if __name__ == "__main__":
    print(errors_page(), end="")
