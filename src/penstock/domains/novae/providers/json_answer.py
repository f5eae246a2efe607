"""An object of JSON from a service; what came whole and is none is told as that, and not asked for again."""

from __future__ import annotations

import json
from typing import Any

from penstock.domains.novae.providers.answer_screen import looks_like_a_page, unusable
from penstock.errors import AnswerTooLong
from penstock.generation.provider_http import ProviderService

LONGEST_JSON = 8 * 1024 * 1024


def json_object(service: ProviderService, url: str) -> dict[str, Any]:
    """What a service answers to a GET; UnusableAnswer if it is no object of JSON."""
    try:
        _, said = service.fetch("GET", url, headers={"Accept": "application/json"}, most=LONGEST_JSON)
    except AnswerTooLong as long:
        what = f"answered with more than {LONGEST_JSON} bytes"
        raise unusable("ANSWER_TOO_LONG", service.host, what, bytes=long.bytes) from None
    if looks_like_a_page(said):
        raise unusable("ANSWER_IS_A_PAGE", service.host, "answered with a page for people and not with JSON")
    try:
        answer = json.loads(said)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise unusable("ANSWER_MALFORMED", service.host, "answered with something that is no object of JSON")
    return answer
