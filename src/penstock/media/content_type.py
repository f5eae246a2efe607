"""Content types: what the bytes of a file are, whatever its name or its sender say.

`sniff` looks at the beginning of a file. It knows what the domains make and take; everything else is text or
``application/octet-stream``. Text formats have no signature, so between them it is a careful guess: `fits` of
`media_type` says which claims a finding supports.

Anybody may send these bytes, so each look goes over them once, forwards, and calls nothing that calls itself.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from penstock.media.media_type import PLAIN

SNIFFED_BYTES = 4096
"As much of the beginning of a file as `sniff` wants to see."

UNKNOWN = "application/octet-stream"

SHOWN_INLINE = frozenset(
    {
        *("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"),
        *("audio/wav", "audio/mpeg", "audio/flac", "audio/ogg", "audio/aac", "audio/mp4"),
        *("video/mp4", "video/webm", "video/quicktime", "video/ogg", "video/x-matroska", "video/3gpp", "video/3gpp2"),
    }
)
"What a browser may show in place: it runs no script from any of these, whatever the bytes are."

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"fLaC", "audio/flac"),
    (0, b"glTF\x01\0\0\0", "model/gltf-binary"),
    (0, b"glTF\x02\0\0\0", "model/gltf-binary"),
    (0, b"SIMPLE  =", "application/fits"),
    (0, b"XTENSION=", "application/fits"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"PK\x05\x06", "application/zip"),
    (0, b"\x1f\x8b\x08", "application/gzip"),
    (0, b"\x1f\x9d", "application/x-compress"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"FLV\x01", "video/x-flv"),
    (0, b"0&\xb2u\x8ef\xcf\x11", "video/x-ms-asf"),
    (0, b"\0\0\x01\xba", "video/mpeg"),
    (0, b"\0\0\x01\xb3", "video/mpeg"),
    (0, b"\x06\x0e+4\x02\x05\x01\x01", "application/mxf"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"caff\0\x01", "audio/x-caf"),
    (0, b"#!AMR", "audio/amr"),
    (257, b"ustar", "application/x-tar"),
)
_PACKETS = 5
"So many in a row are no chance."
_RIFF = {b"WAVE": "audio/wav", b"WEBP": "image/webp", b"AVI ": "video/x-msvideo"}
_PLY = re.compile(rb"ply\r?\nformat (?:ascii|binary_little_endian|binary_big_endian) 1\.0\r?\n")
_BRANDS = {
    b"qt  ": "video/quicktime",
    b"M4A ": "audio/mp4",
    b"M4B ": "audio/mp4",
    b"avif": "image/avif",
    b"avis": "image/avif",
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx"), "image/heic"),
    **dict.fromkeys((b"3gp", b"3gg", b"3ge", b"3gr", b"3gs"), "video/3gpp"),
    **dict.fromkeys((b"3g2", b"KDD"), "video/3gpp2"),
}
"By four letters, or by three where the last one counts versions."
_HEIF = frozenset({b"mif1", b"mif2", b"msf1", b"miaf", b"pict"})
"Brands of pictures that say no more than that; how they are coded, one of those behind says."
_OLD_QUICKTIME = frozenset({b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"})


def sniff(head: bytes) -> str:
    """The content type of a file that begins like this; give `SNIFFED_BYTES` of it, or all there is."""
    head = head[:SNIFFED_BYTES]
    for offset, magic, content_type in _MAGIC:
        if head.startswith(magic, offset):
            return content_type
    if _PLY.match(head):
        return "model/ply"
    for look in (_riff, _iso_media, _matroska, _ogg, _transport_stream, _mpeg_audio, _binary_stl, _text):
        if found := look(head):
            return found
    return UNKNOWN


def _transport_stream(head: bytes) -> str | None:
    """Packets of one size, each of which begins with a G; on discs there is a time before each."""
    for first, size in ((0, 188), (4, 192)):
        begins = head[first::size]
        if len(begins) >= _PACKETS and begins == b"G" * len(begins):
            return "video/mp2t"
    return None


def _riff(head: bytes) -> str | None:
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return "audio/aiff"
    return _RIFF.get(head[8:12]) if head[:4] in (b"RIFF", b"RF64") else None


def _iso_media(head: bytes) -> str | None:
    """MP4 and its relatives, by the brand they name first; QuickTime of the time before brands, by its atoms."""
    if head[4:8] == b"ftyp":
        return _by_brand(head)
    if head[4:8] in _OLD_QUICKTIME and int.from_bytes(head[:4], "big") in range(8, 1 << 31):
        return "video/quicktime"
    return None


def _by_brand(head: bytes) -> str:
    brand = head[8:12]
    if brand in _HEIF:
        behind = range(16, min(int.from_bytes(head[:4], "big"), len(head)) - 3, 4)
        pictures = (_BRANDS.get(head[at : at + 4], "") for at in behind)
        return next((found for found in pictures if found.startswith("image/")), "image/heif")
    return _BRANDS.get(brand) or _BRANDS.get(brand[:3]) or "video/mp4"


def _matroska(head: bytes) -> str | None:
    if not head.startswith(b"\x1a\x45\xdf\xa3"):
        return None
    return "video/webm" if b"webm" in head[:128] else "video/x-matroska"


def _ogg(head: bytes) -> str | None:
    if not head.startswith(b"OggS"):
        return None
    return "video/ogg" if b"\x80theora" in head[:512] else "audio/ogg"


def _mpeg_audio(head: bytes) -> str | None:
    """MP3 and AAC without a container have no signature, only frames: one must follow where the first one ends."""
    if head[:2] in (b"\xff\xf1", b"\xff\xf9"):
        return "audio/aac"
    # Some files begin with padding or the rest of a frame.
    for start in range(min(len(head), 1024)):
        if head[start] == 0xFF:
            after = start + _frame_bytes(head[start : start + 4])
            if after > start and (_frame_bytes(head[after : after + 4]) or (start == 0 and after >= len(head))):
                return "audio/mpeg"
    return None


_KBPS = {
    3: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_HERTZ = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}


def _frame_bytes(header: bytes) -> int:
    """The length of the MPEG layer III frame with this header; 0 when it is none."""
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE6 != 0xE2:
        return 0
    version, rate, frequency = header[1] >> 3 & 3, header[2] >> 4, header[2] >> 2 & 3
    if version == 1 or rate in (0, 15) or frequency == 3:
        return 0
    samples = 144 if version == 3 else 72
    kbps = _KBPS[3 if version == 3 else 2][rate]
    return samples * kbps * 1000 // _HERTZ[version][frequency] + (header[2] >> 1 & 1)


def _binary_stl(head: bytes) -> str | None:
    """80 bytes of anything, a count, and triangles of 50 bytes each: the first ones must be sound."""
    count = int.from_bytes(head[80:84], "little")
    seen = min(count, (len(head) - 84) // 50)
    if not 0 < count < 1 << 27 or seen < 1 or (len(head) < SNIFFED_BYTES and len(head) != 84 + 50 * count):
        return None
    for start in range(84, 84 + 50 * seen, 50):
        x, y, z = struct.unpack_from("<3f", head, start)
        length = x * x + y * y + z * z
        if not (length == 0 or 0.9 < length < 1.1):
            return None
    return "model/stl"


def _text(head: bytes) -> str | None:
    """What kind of text it is, if it is any."""
    text = _decoded(head)
    if text is None:
        return None
    body = text.lstrip("\ufeff \t\r\n")
    for look in _TEXTS:
        if found := look(body):
            return found
    return PLAIN if body or head else None


def _decoded(head: bytes) -> str | None:
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    # The last character may be cut in two.
    for cut in range(4):
        try:
            text = head[: len(head) - cut].decode(encoding)
            break
        except UnicodeDecodeError:
            if len(head) < SNIFFED_BYTES or cut == 3:
                text = head.decode("latin-1")
    return None if _UNPRINTABLE.search(text) else text


_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_HTML = re.compile(
    r"<(?:!doctype\s+html|html|head|body|script|iframe|style|title|table|div|h1|p|a|br|b|img)[\s/>]", re.I
)
_SCRIPT = re.compile(r"<(?:script|iframe|html|body)[\s/>]", re.I)
_OBJ_NAMES = ("mtllib ", "o ", "g ", "s ", "usemtl ")
_OBJ_NUMBER = re.compile(r"-?\d[\d.eE+-]*")
_STL = re.compile(r"solid[^\n]*\n\s*facet normal ", re.I)


def _markup(body: str) -> str | None:
    """HTML and SVG first of all: taken for anything else, they would run as a page of ours."""
    if not body.startswith("<"):
        return None
    rest = _behind_prologue(body)
    if re.match(r"<(?:\w+:)?svg[\s>]", rest, re.I) or re.search(r"<!doctype\s+svg", body, re.I):
        return "image/svg+xml"
    if _HTML.match(rest) or "http://www.w3.org/1999/xhtml" in body:
        return "text/html"
    if not body.startswith("<?xml") and _SCRIPT.search(body):
        return "text/html"
    if re.search(r"<(?:\w+:)?svg[\s>]|http://www\.w3\.org/2000/svg", body, re.I):
        return "image/svg+xml"
    return "application/xml" if body.startswith("<?xml") or re.match(r"<[A-Za-z_][\w:.-]*[\s/>]", rest) else None


def _behind_prologue(body: str) -> str:
    """What stands behind the declaration, the comments and the document type that XML may begin with."""
    at = 0
    while end := _prologue_part(body, at):
        at = end
        while body[at : at + 1].isspace():
            at += 1
    return body[at:]


def _prologue_part(body: str, at: int) -> int:
    """Where the declaration, comment or document type that begins here ends; 0 if none does."""
    for opening, closing in (("<?", "?>"), ("<!--", "-->")):
        if body.startswith(opening, at):
            end = body.find(closing, at + len(opening))
            return end + len(closing) if end >= 0 else 0
    return _doctype_end(body, at) if body[at : at + 9].lower() == "<!doctype" else 0


def _doctype_end(body: str, at: int) -> int:
    """A document type ends at the first bracket behind its declarations, which may have such brackets themselves."""
    end = body.find(">", at)
    declarations = body.find("[", at, max(end, 0))
    if declarations >= 0:
        closed = body.find("]", declarations)
        end = max(end, body.find(">", closed)) if closed >= 0 else end
    return end + 1


def _json(body: str) -> str | None:
    if body[:1] not in ("{", "["):
        return None
    wrong = _first_wrong(body)
    if wrong is not None:
        # A document that was cut is sound up to where it ends, but for the text or number that was cut.
        cut_off = len(body.encode()) >= SNIFFED_BYTES - 16
        if not (cut_off and (wrong >= len(body) - 64 or _JSON_OPEN_TEXT.fullmatch(body, wrong))):
            return None
    gltf = re.search(r'"asset"\s*:\s*\{[^{}]*"version"\s*:\s*"[12]\.', body)
    return "model/gltf+json" if gltf and body.startswith("{") else "application/json"


_JSON_SPACE = re.compile(r"[ \t\r\n]*+")
_JSON_TOKEN = re.compile(
    r"""(?P<mark>[{}\[\],:])
    |(?P<text>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")
    |(?P<plain>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|NaN|-?Infinity)""",
    re.VERBOSE,
)
_JSON_OPEN_TEXT = re.compile(r'"(?:[^"\\]|\\.)*\\?', re.S)
_VALUE = frozenset({"{", "[", "text", "plain"})
_MEMBER = frozenset({"text"})
_COLON = frozenset({":"})
_BEGUN = {"{": _MEMBER | {"}"}, "[": _VALUE | {"]"}}
_GOES_ON = {"{": frozenset({",", "}"}), "[": frozenset({",", "]"})}
_ANOTHER = {"{": _MEMBER, "[": _VALUE}


def _first_wrong(body: str) -> int | None:
    """Where the first document in a JSON text goes wrong; None if it is whole.

    It keeps a list of what is open instead of calling itself: anybody can open more than Python's stack has room for.
    """
    opened: list[str] = []
    wanted, at = _VALUE, 0
    while True:
        at = _JSON_SPACE.match(body, at).end()  # type: ignore[union-attr]
        token = _JSON_TOKEN.match(body, at)
        kind = (token["mark"] or token.lastgroup) if token else None
        if token is None or kind not in wanted:
            return at
        at = token.end()
        if kind in _BEGUN:
            opened.append(kind)
            wanted = _BEGUN[kind]
        elif kind == ",":
            wanted = _ANOTHER[opened[-1]]
        elif kind == "text" and wanted <= _BEGUN["{"]:
            wanted = _COLON
        elif kind == ":":
            wanted = _VALUE
        else:
            if kind in ("}", "]"):
                opened.pop()
            if not opened:
                return None
            wanted = _GOES_ON[opened[-1]]


def _model(body: str) -> str | None:
    return "model/stl" if _STL.match(body) else "model/obj" if _is_obj(body) else None


def _is_obj(body: str) -> bool:
    """Is the first line that is neither a comment nor a name a point in space?"""
    for line in body.split("\n"):
        words = line.split()
        if words and not line.startswith(("#", *_OBJ_NAMES)):
            return line.startswith(("v ", "v\t")) and len(words) > 3 and all(map(_OBJ_NUMBER.fullmatch, words[1:4]))
    return False


def _csv(body: str) -> str | None:
    """At least two rows, each with the same number of commas, semicolons or tabs outside quotes, at least one."""
    rows = [re.sub(r'"[^"]*"', "", row) for row in body.splitlines()[:20] if row and not row.startswith("#")]
    if len(body) > SNIFFED_BYTES // 2 and len(rows) > 2:
        rows = rows[:-1]
    if len(rows) < 2:
        return None
    for separator in ",;\t":
        counts = {row.count(separator) for row in rows}
        if len(counts) == 1 and counts != {0}:
            return "text/csv"
    return None


def _playlist(body: str) -> str | None:
    return "application/vnd.apple.mpegurl" if body.startswith("#EXTM3U") else None


_TEXTS: tuple[Callable[[str], str | None], ...] = (_markup, _playlist, _json, _model, _csv)
