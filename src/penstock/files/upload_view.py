"""An upload as an answer shows it: where to send a file, or what is missing of it."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, Field

from penstock.declare.units import Count, UtcSeconds
from penstock.files.intake import ReservedUpload


class PartView(BaseModel):
    """One part of a large file, and where to send it."""

    number: Count
    start: Count
    stop: Count
    url: str
    method: str
    headers: dict[str, str]


class UploadView(BaseModel):
    """Where to send a file: to `url`, or, if it is large, each part to its own."""

    upload_id: str
    url: str | None
    method: str | None
    headers: dict[str, str]
    parts: list[PartView] = Field(description="Those that have not arrived, a hundred at a time.")
    expires_at: UtcSeconds

    @classmethod
    def of_reserved(cls, reserved: ReservedUpload, **more: Any) -> Self:
        """An upload with URLs that were signed just now, and what else a view of it tells."""
        url = reserved.url
        return cls(
            upload_id=reserved.upload.upload_id,
            url=url.url if url else None,
            method=url.method if url else None,
            headers=dict(url.headers) if url else {},
            parts=[
                PartView(
                    number=p.number,
                    start=p.start,
                    stop=p.stop,
                    url=p.url.url,
                    method=p.url.method,
                    headers=dict(p.url.headers),
                )
                for p in reserved.parts
            ],
            expires_at=reserved.upload.expires_at,
            **more,
        )
