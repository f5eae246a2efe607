"""Watching: playlists whose segments are signed URLs, so that the bytes come from where they lie.

A link to watch is a path that opens by itself for a while, since players send no keys. What is shown soon has a URL
that was signed with the playlist; what is shown later is signed when the player comes to it, so that a long film, or
one that was paused, goes on.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from penstock.domains.videos.errors import NotWatchable
from penstock.domains.videos.model import FILES, SCRUB_SHEET, STREAM, Video
from penstock.domains.videos.video_library import VideoLibrary
from penstock.errors import InvalidKey, NotFound
from penstock.ports.stored_object import SignedUrl

SOON = timedelta(minutes=10)
"What is shown within this time is signed with the playlist."
SHOWN_AS = "video/mp4"
_LARGEST = 8_000_000
_URI = re.compile(r'(URI=")([^"]+)(")')
_EXTINF = re.compile(r"#EXTINF:([0-9.]+)")
_TICKET = re.compile(r"([0-9]{1,12})-([0-9a-f]{32})", re.ASCII)


def watch_path(library: VideoLibrary, video: Video) -> str:
    """The path of a link to watch a video, below that of the API; it ends with the video at the latest."""
    end = library.store.clock.now() + library.left_of(video, library.options.watch_life)
    until = str(int(end.timestamp()))
    return f"watch/{video.video_id}/{until}-{_mark(library, video.video_id, until)}"


def watched(library: VideoLibrary, video_id: UUID, ticket: str) -> Video:
    """The video that a link leads to; NotWatchable once the link is over, or if it was never given."""
    told = _TICKET.fullmatch(ticket)
    if told is None or not hmac.compare_digest(told[2], _mark(library, video_id, told[1])):
        raise NotWatchable("this link leads nowhere")
    if datetime.fromtimestamp(int(told[1]), UTC) <= library.store.clock.now():
        raise NotWatchable("the link to this video is over")
    return library.video(video_id)


def master_playlist(library: VideoLibrary, video: Video) -> str:
    """The rungs there are, each by its own playlist."""
    if video.stream_s3_key is None:
        raise NotWatchable(f"video {video.video_id} is {video.status.value}; there is nothing to be seen yet")
    lines = _text(library, video.stream_s3_key).splitlines()
    return "".join(f"{_rung_playlist(line)}\n" for line in lines)


def media_playlist(library: VideoLibrary, video: Video, rung: str) -> str:
    """The segments of a rung that there are by now."""
    sign, lines, at = _signed(library, video, rung), [], timedelta(0)
    for line in _text(library, _key(video, f"{rung}/index.m3u8")).splitlines():
        if length := _EXTINF.match(line):
            lines.append(line)
            lasts = timedelta(seconds=float(length[1]))
        elif line.startswith("#"):
            lines.append(_URI.sub(lambda found: f"{found[1]}{sign(found[2]).url}{found[3]}", line))
        elif line:
            lines.append(sign(line).url if at < SOON else f"{rung}/{line}")
            at += lasts
    return "".join(f"{line}\n" for line in lines)


def segment_url(library: VideoLibrary, video: Video, rung: str, segment: str) -> SignedUrl:
    """Where a segment is, from now on for a while."""
    return _signed(library, video, rung)(segment)


def scrub_track(library: VideoLibrary, video: Video) -> str:
    """Which picture of the sheet is of which time."""
    if video.scrub_track_s3_key is None or video.scrub_s3_key is None:
        raise NotWatchable(f"video {video.video_id} has no pictures to scrub by yet")
    sheet = library.signer(video).url(video.scrub_s3_key, "image/jpeg") or ""
    lines = _text(library, video.scrub_track_s3_key).splitlines()
    return "".join(f"{line.replace(SCRUB_SHEET + '#', sheet + '#', 1)}\n" for line in lines)


def _signed(library: VideoLibrary, video: Video, rung: str) -> Callable[[str], SignedUrl]:
    lasts = library.left_of(video, library.options.url_life)

    def sign(name: str) -> SignedUrl:
        return library.objects.download_url(_key(video, f"{rung}/{name}"), expires=lasts, show_as=SHOWN_AS)

    return sign


def _rung_playlist(line: str) -> str:
    """The line of a master playlist that names the playlist of a rung, as our route does."""
    return line if line.startswith("#") else f"{line.partition('/')[0]}.m3u8"


def _key(video: Video, name: str) -> str:
    try:
        return FILES.key_of(video, f"{STREAM}/{name}")
    except InvalidKey:
        raise NotWatchable(f"video {video.video_id} has no {name[:100]}") from None


def _text(library: VideoLibrary, key: str) -> str:
    """A text that was written here."""
    try:
        with library.objects.get(key) as download:
            if download.stored.size > _LARGEST:
                raise NotWatchable(f"{key} is too large to be a playlist")
            return b"".join(download).decode()
    except NotFound:
        raise NotWatchable(f"there is no {key} yet") from None


def _mark(library: VideoLibrary, video_id: UUID, until: str) -> str:
    return library.store.mark("watch", str(video_id), until)[:32]
