"""Videos that nobody has sent: only their records."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from penstock.domains.videos.model import Video


def a_video(**said: Any) -> Video:
    """A record as others have written it, which was never seen."""
    given = {"user_id": "user_789", "created_at": 1717645200, "title": "Product Launch Demo", "duration": 354000}
    return Video(**{"video_id": uuid4(), **given, **said})
