"""What is kept of a log never opens a door."""

from __future__ import annotations

import logging
import time

import pytest

from penstock.work.log_line import HIDDEN, LONGEST_LINE, log_line

SECRETS = {
    "Authorization: Bearer abc123.def-456": "abc123",
    "authorization basic dXNlcjpwYXNz": "dXNlcjpwYXNz",
    "the key pk_0123456789ab_ABCDEFGHIJKLMNOPQRSTUVWXYZ012345 works": "ABCDEFGH",
    "asked with sk-proj-0123456789abcdef0123": "0123456789abcdef",
    "postgresql://ann:hunter2@db/films is away": "hunter2",
    "https://files/a.mp4?X-Amz-Signature=deadbeef&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE": "deadbeef",
    "password=hunter2, user=ann": "hunter2",
    '{"api_key": "hunter2", "model": "a"}': "hunter2",
    "client_secret: hunter2": "hunter2",
    "https://files/a.mp4?sig=deadbeef": "deadbeef",
}


@pytest.mark.parametrize("line", SECRETS)
def test_a_secret_is_not_kept(line: str) -> None:
    kept = log_line(logging.INFO, line, ())
    assert SECRETS[line] not in kept
    assert HIDDEN in kept
    assert log_line(logging.INFO, "it said %s", (line,)).count(SECRETS[line]) == 0, "nor as an argument"


@pytest.mark.parametrize(
    "line", ["12 of 30 scenes filmed", "tokens: many", "a key, a password", "GET https://a/b/c.mp4"]
)
def test_what_is_no_secret_is_kept_as_it_is(line: str) -> None:
    assert log_line(logging.WARNING, line, ()) == f"WARNING {line}"


def test_a_line_is_one_line_and_short() -> None:
    kept = log_line(logging.INFO, "a\nb" + "c" * 10_000, ())
    assert "\n" not in kept
    assert len(kept) <= LONGEST_LINE


def test_a_hostile_line_takes_no_time() -> None:
    began = time.monotonic()
    for line in ("a-" * 50_000, "secret" * 20_000, "://" + "a:" * 50_000, "token=" * 20_000):
        log_line(logging.INFO, line, ())
    assert time.monotonic() - began < 1.0


def test_a_line_that_cannot_be_formatted_is_kept_all_the_same() -> None:
    assert log_line(logging.INFO, "%d scenes", ("many",)) == "INFO %d scenes"
