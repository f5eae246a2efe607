"""What happens in these tests, in a few words: speaking at a moment, and looking at what is there."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from penstock import FrozenClock, Store
from penstock.domains.speech import PLUGIN
from penstock.domains.speech.actions import synthesise
from penstock.domains.speech.cleanup import cleanup_yesterday_temp_audio
from penstock.domains.speech.model import CleanupRun, TempAudio
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.files.object_reads import every
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.plugin import own_settings
from penstock.ports.object_store import Objects

GUEST = "192.168.1.100"


def moment(text: str) -> datetime:
    """``12-09 12:00:00`` of the plan's year, in UTC."""
    return datetime.fromisoformat(f"2025-{text}").replace(tzinfo=UTC)


def at(studio: SpeechStudio, text: str) -> None:
    clock = studio.store.clock
    assert isinstance(clock, FrozenClock)
    clock.set(moment(text))


def spoken(studio: SpeechStudio, when: str, text: str = "Hello", ip_address: str = GUEST) -> TempAudio:
    """An audio made at a moment."""
    at(studio, when)
    return synthesise(studio, text, ip_address=ip_address).audio


def cleaned(studio: SpeechStudio, when: str) -> CleanupRun:
    """The cleanup, run at a moment."""
    at(studio, when)
    return cleanup_yesterday_temp_audio(studio.store, studio.objects)


unset = own_settings([PLUGIN], {})
"No setting has a value."


def files(objects: Objects) -> set[str]:
    return {found.key for found in every(objects)}


def messages(store: Store) -> list[tuple[str, dict[str, Any]]]:
    """What others will be told."""
    return [(m.type, m.payload) for m in store.find(SystemMessage.by_status(status=MessageStatus.PENDING))]


def alerts(store: Store) -> list[tuple[str, dict[str, Any]]]:
    return [(kind, told) for kind, told in messages(store) if kind != "temp_audio.cleaned"]
