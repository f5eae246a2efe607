"""Media types by name: which names mean the same, what may be claimed of a file, and what kind of file a name is of."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penstock.errors import InvalidValue

PLAIN = "text/plain"

_USUAL_NAMES: Mapping[str, str] = {
    "audio/wav": "audio/x-wav audio/wave audio/vnd.wave audio/x-pn-wav",
    "audio/mpeg": "audio/mp3 audio/x-mp3 audio/mpeg3 audio/x-mpeg-3 audio/x-mpeg audio/mpg",
    "audio/flac": "audio/x-flac",
    "audio/ogg": "audio/opus audio/vorbis audio/x-ogg application/ogg",
    "audio/mp4": "audio/m4a audio/x-m4a audio/m4b audio/x-m4b audio/mp4a-latm",
    "audio/aac": "audio/x-aac audio/aacp audio/x-hx-aac-adts",
    "audio/aiff": "audio/x-aiff audio/aif",
    "audio/x-caf": "audio/caf",
    "audio/amr": "audio/x-amr audio/amr-nb",
    "video/mp4": "video/x-m4v video/m4v video/x-mp4 application/mp4",
    "video/quicktime": "video/mov video/x-quicktime",
    "video/3gpp": "video/3gp video/x-3gp audio/3gpp",
    "video/3gpp2": "video/3g2 audio/3gpp2",
    "video/x-matroska": "video/matroska video/mkv video/x-mkv audio/matroska audio/x-matroska",
    "video/webm": "audio/webm",
    "video/x-msvideo": "video/avi video/msvideo video/vnd.avi application/x-troff-msvideo",
    "video/mpeg": "video/mpg video/x-mpeg video/x-mpg video/mpeg2 video/mp2p video/mp1s video/mpv",
    "video/mp2t": "video/m2ts video/mts video/vnd.dlna.mpeg-tts",
    "video/ogg": "video/x-ogg video/theora",
    "video/x-flv": "video/flv",
    "video/x-ms-asf": "video/x-ms-wmv video/x-ms-wm video/wmv audio/x-ms-wma application/vnd.ms-asf",
    "application/mxf": "video/mxf",
    "image/jpeg": "image/jpg image/pjpeg image/jfif",
    "image/png": "image/x-png image/apng image/vnd.mozilla.apng",
    "image/avif": "image/avif-sequence",
    "image/heic": "image/heic-sequence",
    "image/heif": "image/heif-sequence",
    "application/fits": "image/fits",
    "application/gzip": "application/x-gzip",
    "application/zip": "application/x-zip-compressed",
    "application/xml": "text/xml",
    "application/json": "text/json",
    "text/csv": "text/tab-separated-values",
    "model/stl": "model/x.stl-ascii model/x.stl-binary",
}
"The other names, registered or merely common, that senders have for a type."
_ALIASES = {other: usual for usual, others in _USUAL_NAMES.items() for other in others.split()}
_FORMS: Mapping[str, frozenset[str]] = {
    # A claim that is a special form of what can be seen.
    PLAIN: frozenset(
        {"text/csv", "text/markdown", "application/x-ndjson", "model/obj", "application/vnd.apple.mpegurl"}
    ),
    "text/csv": frozenset({PLAIN}),
    "model/obj": frozenset({PLAIN}),
    "application/json": frozenset({"application/x-ndjson", "model/gltf+json", "application/geo+json"}),
    "application/xml": frozenset({"application/x-votable+xml", "application/rss+xml", "application/atom+xml"}),
}
_FAMILIES = (
    frozenset({"video/mp4", "audio/mp4", "video/quicktime", "video/3gpp", "video/3gpp2"}),
    frozenset({"video/webm", "video/x-matroska"}),
    frozenset({"video/ogg", "audio/ogg"}),
    frozenset({"video/mpeg", "video/mp2t"}),
    frozenset({"image/heic", "image/heif", "image/avif"}),
)
"Containers that are built alike: which one of them a file is, its beginning only hints at."
_ZIPPED = ("application/vnd.openxmlformats-", "application/vnd.oasis.opendocument.", "application/epub+zip")
_LONGEST_TYPE = 200
_NAME, _TOKEN = r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}", r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_MEDIA_TYPE = re.compile(rf'{_NAME}/{_NAME}(?:[ \t]*;[ \t]*{_TOKEN}=(?:{_TOKEN}|"[ \t!#-\[\]-~]*"))*+', re.ASCII)


def fits(claimed: str, found: str) -> bool:
    """Does a claimed content type agree with the one that was found in the bytes?"""
    claim = canonical(claimed)
    if claim == found or claim in _FORMS.get(found, ()) or any({claim, found} <= family for family in _FAMILIES):
        return True
    return found == "application/zip" and claim.startswith(_ZIPPED)


def canonical(content_type: str) -> str:
    """A content type without parameters, in small letters, under its usual name."""
    bare = content_type.partition(";")[0].strip().lower()
    return _ALIASES.get(bare, bare)


def checked_content_type(content_type: str) -> str:
    """A content type that is announced, in one form; InvalidValue for what is no media type."""
    if len(content_type) > _LONGEST_TYPE or not _MEDIA_TYPE.fullmatch(content_type.strip(" \t")):
        raise InvalidValue(f"the content type {content_type[:40]!r} is no media type; write one such as video/mp4")
    return canonical(content_type)
