"""Videos as a terminal shows them: in a line, in a table, as data for programs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from penstock.domains.videos.adding import AddedVideo
from penstock.domains.videos.model import Video
from penstock.domains.videos.video_views import API

_NUMBER = re.compile(r"\d+")


def shown(name: object) -> str:
    """A name in one line, whatever is in it."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(name))


def length(milliseconds: int) -> str:
    """How long something lasts."""
    if milliseconds < 100:
        return f"{milliseconds} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def rungs_of(video: Video) -> dict[str, str]:
    """The keys of the files that can be watched by themselves, the best first."""
    own = {name: path for name, path in (video.resolutions or {}).items() if not path.startswith("s3://")}
    return dict(sorted(own.items(), key=lambda rung: _height(rung[0]), reverse=True))


def told_facts(video: Video) -> str:
    """What is known of a video, in a few words."""
    size = None if video.file_size is None else decimal(video.file_size)
    facts = [length(video.duration), video.resolution, size, " ".join(rungs_of(video)) or video.status.value]
    return " · ".join(fact for fact in facts if fact)


def told_stays(added: AddedVideo) -> str:
    """What of a video was said otherwise now and stays as it was, and what changes it; nothing, most often."""
    if not added.stays:
        return ""
    place = f"{API}/videos/{added.video.video_id}"
    edits = [f"PATCH {place}"] if added.stays != ("end",) else []
    ends = [f"PUT {place}/end"] if "end" in added.stays else []
    stay = "stays as it was" if len(added.stays) == 1 and added.stays != ("tags",) else "stay as they were"
    return f" · its {' and '.join(added.stays)} {stay}; to change that: {' and '.join([*edits, *ends])}"


def table_of(videos: Sequence[Video]) -> Table:
    """Videos in a table."""
    table = Table("id", "title", "length", "picture", "size", "status", "category", "tags", "views", "added (UTC)")
    table.columns[0].no_wrap = True
    table.columns[0].min_width = 36
    for video in videos:
        row = (
            video.video_id,
            shown(video.title),
            length(video.duration),
            video.resolution,
            None if video.file_size is None else decimal(video.file_size),
            video.status.value,
            video.category,
            ", ".join(sorted(video.tags or ())),
            video.view_count or 0,
            f"{datetime.fromtimestamp(video.created_at, UTC):%Y-%m-%d %H:%M}",
        )
        # As it is: what somebody has called a video is no markup.
        table.add_row(*(Text("" if value is None else shown(value)) for value in row))
    return table


def as_data(video: Video) -> dict[str, Any]:
    """What programs are told of a video."""
    told = ("video_id", "user_id", "title", "duration", "status", "category", "file_size", "format", "resolution")
    facts = video.model_dump(mode="json", include={*told, "view_count", "created_at", "expiry_time", "sha256"})
    facts["view_count"] = video.view_count or 0
    return {**facts, "tags": sorted(video.tags or ()), "rungs": list(rungs_of(video))}


def _height(rung: str) -> int:
    number = _NUMBER.search(rung)
    return int(number[0]) if number else 0
