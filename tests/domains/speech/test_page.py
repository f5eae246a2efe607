"""The page about speech says what the code does."""

from __future__ import annotations

from pathlib import Path

from fastapi.routing import APIRoute

from penstock.domains.speech import cleanup, errors, model
from penstock.domains.speech.actions import AS_JOB, AT_ONCE
from penstock.domains.speech.options import SpeechOptions
from penstock.domains.speech.routes import A_MINUTE, JOBS_A_MINUTE, READS_A_MINUTE, routes
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.errors import PenstockError
from penstock.media.speech import errors as voice_errors
from penstock.media.speech import say_as, ssml
from penstock.media.speech.voices import Voices
from penstock.work.domain_context import DomainContext
from tests.domains.speech.story import unset

PAGE = (Path(__file__).parents[3] / "docs" / "speech.md").read_text()


def test_every_error_is_there() -> None:
    """TA-5, TA-24."""
    modules = (errors, voice_errors)
    found = [kind for module in modules for kind in vars(module).values() if isinstance(kind, type)]
    own = [kind for kind in found if kind.__module__ in {module.__name__ for module in modules}]
    assert len(own) == 7
    for kind in own:
        assert issubclass(kind, PenstockError)
        assert f"| {kind.http_status} | `{kind.slug}` |" in PAGE


def test_every_voice_and_every_element_is_there(voices: Voices) -> None:
    """TA-4: those of the default install."""
    for offer in voices.offers:
        assert f"`{offer.voice_id}`" in PAGE
    for element in ssml.ATTRIBUTES:
        assert f"`<{element}" in PAGE
    for words in (ssml.STRENGTHS, ssml.LEVELS, say_as.KINDS):
        assert all(f"{word}`" in PAGE or f'{word}"' in PAGE for word in words)


def test_every_route_is_there(studio: SpeechStudio) -> None:
    """TA-24."""
    router = routes(DomainContext(studio.store, studio.objects, unset))
    for route in router.routes:
        assert isinstance(route, APIRoute)
        assert f"`{next(iter(route.methods or ()))} {route.path_format}`" in PAGE


def test_every_message_and_limit_is_there() -> None:
    """TA-16, TA-17, TA-19, TA-21, TA-22, TA-25."""
    for kind in (cleanup.CLEANED, cleanup.INCOMPLETE, cleanup.MISSED, "schedule.failed", "schedule.overdue"):
        assert f"`{kind}`" in PAGE
    assert f"up to {AT_ONCE:,} characters" in PAGE
    assert f"up to {AS_JOB:,} characters" in PAGE
    assert f"({A_MINUTE} texts, {JOBS_A_MINUTE} jobs, {READS_A_MINUTE} looks)" in PAGE
    usual = SpeechOptions()
    for line in (
        f"spoken at once | {usual.seconds_at_once} seconds |",
        f"spoken by a job | {usual.seconds_a_job:,} seconds |",
        f"unfinished jobs | {usual.jobs_each} | {usual.jobs} |",
        f"speech made in an hour | {usual.seconds_each:,} seconds | {usual.seconds:,} seconds |",
        f"that are kept | {usual.bytes_each:,} bytes | {usual.bytes:,} bytes |",
    ):
        assert line in PAGE
    assert model.LIFETIME.total_seconds() == 24 * 3600
    assert f"{model.RUNS_KEPT.days} days" in PAGE
