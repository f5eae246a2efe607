"""How people look at what was spoken: the sound, and nothing of who asked for it."""

from __future__ import annotations

from penstock.domains.speech.model import TempAudio
from penstock.review.reviewable import Reviewable, ReviewFile, in_query

REVIEWS = (
    Reviewable(
        TempAudio,
        files=lambda context, audio: (
            [ReviewFile("speech", audio.s3_key, title=f"spoken by {audio.voice_id}")] if audio.audible else []
        ),
        queue=in_query(lambda audio: TempAudio.of_date(date=audio.date)),
        # What was said is personal, and an item may be shown to guests.
        title=lambda audio: f"{audio.voice_id}, {audio.created_at:%Y-%m-%d %H:%M:%S} UTC",
    ),
)
