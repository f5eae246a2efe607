"""Narrowing: whoever may see every project can have a request see one of them, by the header X-Project.

It takes away and never adds: a key that is bound to a project is refused any other.
"""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

from starlette.requests import Request

from penstock.errors import InvalidValue
from penstock.kernel.scope import project_text
from penstock.web.errors import InvalidRequest

PROJECT_HEADER = "X-Project"
LONGEST_PROJECT = 500
"Characters of a project's id, as the header has it."
ABOUT_PROJECT = (
    "Only what belongs to this project: its id, percent-encoded where it has other characters than those of ASCII. "
    "A key that is bound to another project is refused."
)


def wanted_project(request: Request) -> str | None:
    """The project that a request is narrowed to; None where it says nothing of one."""
    given = request.headers.getlist(PROJECT_HEADER)
    if not given:
        return None
    if len(given) > 1:
        raise _refused("it is given more than once")
    if len(given[0]) > LONGEST_PROJECT:
        raise _refused(f"it has more than {LONGEST_PROJECT} characters")
    try:
        return project_text(unquote_to_bytes(given[0].encode("latin-1")).decode())
    except UnicodeDecodeError:
        raise _refused("it is no UTF-8, percent-encoded") from None
    except InvalidValue as error:
        raise _refused(str(error)) from None


def _refused(why: str) -> InvalidRequest:
    return InvalidRequest(f"{PROJECT_HEADER}: {why}", [{"where": f"header.{PROJECT_HEADER}", "message": why}])
