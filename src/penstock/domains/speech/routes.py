"""The doors for guests, and one for whoever keeps their rights: parse, call one action, render.

Whoever uses a door for guests is a guest there, also with a key: what guests have made belongs to no project. Erasing
it is for administrators of all projects.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response
from pydantic import UUID4, AliasChoices, BaseModel, ConfigDict, Field

from penstock.auth.access import again, heavy, needs, personal, public, takes
from penstock.auth.caller import caller_of
from penstock.declare.units import Count, Seconds, UtcSeconds
from penstock.domains.speech import actions, erasure, tasks
from penstock.domains.speech.model import SpeechJobStatus
from penstock.domains.speech.sound_formats import SoundFormat, sound_as
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.files.scratch import scratch_folder
from penstock.files.signed_view import SignedView, UrlOf, UrlSigner, shared_fields
from penstock.media.speech.voices import Quality
from penstock.schema.role import Role
from penstock.work.domain_context import DomainContext

A_MINUTE, JOBS_A_MINUTE, READS_A_MINUTE = 20, 5, 120
_SOUND: dict[int | str, dict[str, Any]] = {
    200: {"description": "The sound.", "content": {each.media_type: {} for each in SoundFormat}}
}


class ToSay(BaseModel):
    """What to say, and with which voice."""

    model_config = ConfigDict(extra="forbid")

    text: str | None = Field(None, description="Plain, or SSML.", examples=["Hello world test"])
    voice_id: str | None = Field(
        None,
        validation_alias=AliasChoices("voice_id", "voice"),
        description="One of `/voices`; the usual one if none is given.",
    )


class AudioView(SignedView):
    """Speech, and where it can be heard until it is gone."""

    expiry = "expires_at"

    date: dt.date
    audio_id: UUID4
    audio_url: Annotated[str, UrlOf("s3_key")] = Field(description="Opens by itself, until `expires_at`.")
    expires_at: UtcSeconds
    forgotten_at: UtcSeconds = Field(description="Then it is gone, also where its URL has ended before.")
    duration: Seconds
    voice_id: str
    file_size_bytes: Count
    left_out: str | None = Field(None, description="Characters of the text that the voice cannot say.")


class JobView(BaseModel):
    """A long text on its way to become speech."""

    date: dt.date
    job_id: UUID4
    status: SpeechJobStatus
    progress: float = Field(ge=0, le=1)
    voice_id: str
    error_message: str | None = None
    audio: AudioView | None = None


class VoiceView(BaseModel):
    """A voice that can be asked for."""

    voice_id: str
    language: str
    engine: str
    quality: Quality | None = Field(description="How it sounds: like a person (high), or like a machine (low).")
    usual: bool = Field(description="Is it used where none is asked for?")


class ErasureView(BaseModel):
    """How much was kept for an address, and is gone."""

    audios: Count
    jobs: Count


def routes(context: DomainContext) -> APIRouter:
    """The router of a running system."""
    router = APIRouter(tags=["speech"])
    studio = SpeechStudio.within(context)

    @router.get("/voices")
    @public(per_minute=READS_A_MINUTE)
    def voices() -> list[VoiceView]:
        """The voices that are here."""
        return [
            VoiceView(voice_id=o.voice_id, language=o.language, engine=o.engine, quality=o.quality, usual=number == 0)
            for number, o in enumerate(studio.voices.offers)
        ]

    def heard_again(request: Request, told: dict[str, Any]) -> AudioView:
        return audio(dt.date.fromisoformat(told["date"]), UUID(told["audio_id"]))

    @router.post("/public/tts/sync")
    @public(per_minute=A_MINUTE)
    @heavy("synthesis")
    @again(heard_again)
    def speak(request: Request, body: ToSay, address: Address) -> AudioView:
        """Have a text spoken now. The audio and the text are kept for 24 hours, with the address that asked for it."""
        caller = caller_of(request)
        spoken = actions.synthesise(
            studio, body.text, body.voice_id, ip_address=address, by=caller.name, once=caller.claim
        )
        return _audio_view(spoken)

    def begun_again(request: Request, told: dict[str, Any]) -> JobView:
        return JobView(**told, progress=0.0)

    @router.post("/public/tts/jobs", status_code=202)
    @public(per_minute=JOBS_A_MINUTE)
    @takes(kilobytes=256)  # 20,000 characters, however JSON writes them
    @again(begun_again)
    def begin_job(request: Request, body: ToSay, address: Address) -> JobView:
        """Have a long text spoken by a worker; ask for the job until it is completed."""
        caller = caller_of(request)
        job = tasks.request_job(studio, body.text, body.voice_id, ip_address=address, by=caller.name, once=caller.claim)
        return _job_view(tasks.JobSeen(job, 0.0, None))

    @router.get("/public/tts/jobs/{date}/{job_id}")
    @public(per_minute=READS_A_MINUTE)
    def job(date: dt.date, job_id: UUID) -> JobView:
        """How far a job has come, and its audio once it can be heard."""
        return _job_view(tasks.job_of(studio, date, job_id))

    @router.get("/public/tts/{date}/{audio_id}")
    @public(per_minute=READS_A_MINUTE)
    def audio(date: dt.date, audio_id: UUID) -> AudioView:
        """An audio with a new URL, while its 24 hours last."""
        return _audio_view(actions.audio_of(studio, date, audio_id))

    @router.get("/public/sound/{date}/{audio_id}", response_class=Response, responses=_SOUND)
    @public(per_minute=A_MINUTE)
    @heavy("synthesis")
    def sound(date: dt.date, audio_id: UUID, format: SoundFormat = SoundFormat.MP3) -> Response:
        """The sound of an audio in another format, while its 24 hours last."""
        spoken = actions.audio_of(studio, date, audio_id)
        with scratch_folder("speech") as folder:
            made = sound_as(studio, spoken.audio, format, Path(folder)).read_bytes()
        name = {"Content-Disposition": f'inline; filename="speech.{format.value}"', "Cache-Control": "no-store"}
        return Response(made, media_type=format.media_type, headers=name)

    @router.delete("/tts/audios/{date}/{audio_id}", status_code=204)
    @needs(Role.ADMIN)
    def erase_audio(request: Request, date: dt.date, audio_id: UUID) -> None:
        """Erase an audio, its text and its address."""
        caller = caller_of(request)
        erasure.erase_audio(studio.seen_by(caller), date, audio_id, by=caller.name)

    # Whatever follows is taken as the address, so that one with a slash too many is not logged either.
    @router.delete("/tts/addresses/{ip_address:path}")
    @needs(Role.ADMIN)
    @personal
    def erase_address(request: Request, ip_address: str) -> ErasureView:
        """Erase everything that was made for an address."""
        caller = caller_of(request)
        erased = erasure.erase_address(studio.seen_by(caller), ip_address, by=caller.name)
        return ErasureView(audios=erased.audios, jobs=erased.jobs)

    return router


def _audio_view(spoken: actions.Spoken) -> AudioView:
    gone = dt.datetime.fromtimestamp(spoken.audio.ttl, dt.UTC)
    return AudioView.of(spoken.audio, UrlSigner(lambda key, *, show_as=None: spoken.link), forgotten_at=gone)


def _job_view(seen: tasks.JobSeen) -> JobView:
    audio = _audio_view(seen.spoken) if seen.spoken else None
    return JobView(**shared_fields(JobView, seen.job), progress=seen.progress, audio=audio)


def client_address(request: Request) -> str:
    """Where a guest asks from; the service has found out whom a proxy speaks for."""
    return caller_of(request).address


Address = Annotated[str, Depends(client_address)]
