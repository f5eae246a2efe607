"""What is answered when the answer itself cannot be kept under its Idempotency-Key."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.responses import Response

from penstock.auth.caller import Caller
from penstock.errors import NotFound
from tests.web.test_idempotency import once, own


@pytest.mark.parametrize(("fails", "told"), [(False, (201, None)), (True, (404, "not-found"))])
def test_one_that_was_too_slow_is_answered_as_it_went(
    tmp_path: Path, fails: bool, told: tuple[int, str | None]
) -> None:
    """It has changed nothing; what is kept is the answer of whoever took over."""
    tries: list[Any] = []

    def slow(caller: Caller) -> Any:
        if tries:
            return {"tries": "the second"}
        tries.append(None)
        service.clock.advance(timedelta(minutes=2))
        tries.append(editor.post("/own", headers=once("k")))
        if fails:
            raise NotFound("it is gone")
        return {"tries": "the first"}

    service, editor = own(tmp_path, slow, strict_claims=False)
    late = editor.post("/own", headers=once("k"))
    assert (late.status_code, late.json().get("type")) == told
    assert tries[1].json() == editor.post("/own", headers=once("k")).json() == {"tries": "the second"}


@pytest.mark.parametrize("body", [b"\xff\xfe", b"a\0b"])
def test_an_answer_that_is_no_text_is_not_kept_and_not_carried_out_again(tmp_path: Path, body: bytes) -> None:
    times: list[Caller] = []

    def drawing(caller: Caller) -> Response:
        times.append(caller)
        return Response(body, 201, media_type="application/octet-stream")

    _, editor = own(tmp_path, drawing)
    assert editor.post("/own", headers=once("k")).content == body
    assert editor.post("/own", headers=once("k")).json()["type"] == "answer-not-kept"
    assert len(times) == 1
