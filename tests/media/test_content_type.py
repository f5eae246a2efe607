"""Content types are found in the bytes, whatever a name or a sender says."""

from __future__ import annotations

import csv
import io
import json
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.media.content_type import SHOWN_INLINE, SNIFFED_BYTES, UNKNOWN, sniff
from penstock.media.media_type import PLAIN, canonical, fits
from tests.pumped import given_up_after

DATA = Path(__file__).parents[3] / "shared" / "data"


def triangles(count: int) -> bytes:
    return (
        b"binary stl".ljust(80, b"\0") + struct.pack("<I", count) + struct.pack("<12fH", 0, 0, 1, *range(9), 0) * count
    )


def mp3(frames: int) -> bytes:
    """Frames of 128 kbit/s at 44.1 kHz: 417 bytes each."""
    return (b"\xff\xfb\x90\x00" + bytes(413)) * frames


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", "a")
    return file.getvalue()


EXAMPLES = {
    "transport stream": ((b"G@\x11\x10" + bytes(184)) * 8, "video/mp2t"),
    "transport stream of a disc": ((b'\x0e\xbfF"G@\x11\x10' + bytes(184)) * 8, "video/mp2t"),
    "letters": (b"G" + b"a" * 187, "text/plain"),
    "program stream": (b"\0\0\x01\xbaD\0\x04\0" + bytes(100), "video/mpeg"),
    "mxf": (b"\x06\x0e+4\x02\x05\x01\x01\r\x01\x02\x01" + bytes(100), "application/mxf"),
    "wav": (b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav"),
    "mp3 with a tag": (b"ID3\x03\0\0\0\0\0\x00" + mp3(1), "audio/mpeg"),
    "mp3 without one": (mp3(3), "audio/mpeg"),
    "mp3 after the rest of a frame": (bytes(100) + mp3(3), "audio/mpeg"),
    "aac": (b"\xff\xf1\x50\x80\x00\x1f\xfc", "audio/aac"),
    "flac": (b"fLaC\0\0\0\x22", "audio/flac"),
    "ogg": (b"OggS\0\x02" + bytes(22) + b"\x01vorbis", "audio/ogg"),
    "ogg with pictures": (b"OggS\0\x02" + bytes(22) + b"\x80theora", "video/ogg"),
    "mp4": (b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41", "video/mp4"),
    "m4a": (b"\0\0\0\x20ftypM4A \0\0\0\0", "audio/mp4"),
    "mov": (b"\0\0\0\x14ftypqt  \0\0\0\0qt  ", "video/quicktime"),
    "mov of old": (b"\0\0\0\x08wide\0\0\x10\0mdat", "video/quicktime"),
    "3gp": (b"\0\0\0\x1cftyp3gp4\0\0\x02\0isomiso23gp4", "video/3gpp"),
    "3g2": (b"\0\0\0\x18ftyp3g2a\0\0\0\0", "video/3gpp2"),
    "avif": (b"\0\0\0\x20ftypavif\0\0\0\0", "image/avif"),
    "avif under the name of all": (b"\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf", "image/avif"),
    "heic": (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "image/heic"),
    "heic under the name of all": (b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic", "image/heic"),
    "heif": (b"\0\0\0\x14ftypmif1\0\0\0\0mif1avif", "image/heif"),
    "aiff": (b"FORM\0\0\x10\0AIFFCOMM", "audio/aiff"),
    "caf": (b"caff\0\x01\0\0desc", "audio/x-caf"),
    "amr": (b"#!AMR\n\x3c", "audio/amr"),
    "webm": (b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm", "video/webm"),
    "mkv": (b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x88matroska", "video/x-matroska"),
    "png": (b"\x89PNG\r\n\x1a\n", "image/png"),
    "jpeg": (b"\xff\xd8\xff\xe0\x00\x10JFIF", "image/jpeg"),
    "gif": (b"GIF89a\x01\0\x01\0", "image/gif"),
    "webp": (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
    "glb": (b"glTF\x02\0\0\0\x10\0\0\0", "model/gltf-binary"),
    "gltf": (b'{"asset": {"generator": "x", "version": "2.0"}, "scenes": []}', "model/gltf+json"),
    "obj": (b"# a box\nmtllib box.mtl\no Box\nv 0.0 0.0 -1.5\nv 1 0 0\nf 1 2 3\n", "model/obj"),
    "ply": (b"ply\nformat binary_little_endian 1.0\nelement vertex 8\n", "model/ply"),
    "stl as text": (b"solid box\n  facet normal 0 0 1\n outer loop\n", "model/stl"),
    "stl": (triangles(3), "model/stl"),
    "large stl": (triangles(1000), "model/stl"),
    "fits": (b"SIMPLE  =                    T / conforms".ljust(2880), "application/fits"),
    "pdf": (b"%PDF-1.7\n", "application/pdf"),
    "zip": (zipped(), "application/zip"),
    "gz": (b"\x1f\x8b\x08\0\0\0\0\0", "application/gzip"),
    "tar": (b"a".ljust(257, b"\0") + b"ustar\x0000", "application/x-tar"),
    "csv": (b'name,mag\n"V1500, Cyg",2.0\nRS Oph,4.5\n', "text/csv"),
    "csv with semicolons": (b"a;b\n1;2\n3;4\n", "text/csv"),
    "tabs": (b"a\tb\n1\t2\n", "text/csv"),
    "json": (b' {"a": [1, 2.5, null, "x"]}\n', "application/json"),
    "json list": (b"[]", "application/json"),
    "json in lines": (b'{"a": 1}\n{"a": 2}\n', "application/json"),
    "json with every kind of value": (
        b'[-1.5e+3, 0, true, false, null, "\\u00e9\\n", {}, {"a": {"b": []}}]',
        "application/json",
    ),
    "json with a number that is none": (b"[01]", PLAIN),
    "json with a comma too many": (b'{"a": 1,}', PLAIN),
    "json with a wrong bracket": (b'{"a": [1}', PLAIN),
    "json without a colon": (b'{"a" 1}', PLAIN),
    "json that ends": (b'[{"a": "b"', PLAIN),
    "obj with Windows lines": (b"# a box\r\n\r\ng\tx\r\n".replace(b"\t", b" ") + b"v 0.0 -1 2e-3\r\n", "model/obj"),
    "obj with two numbers": (b"o box\nv 1 2\nv 1 2 3\n", PLAIN),
    "html": (b"\xef\xbb\xbf\n<!DOCTYPE html>\n<html>", "text/html"),
    "html without a head": (b"<p onclick='alert(1)'>hello</p>", "text/html"),
    "html behind a comment": (b"<!-- x --><script>alert(1)</script>", "text/html"),
    "html in strange clothes": (b"<custom><script>alert(1)</script></custom>", "text/html"),
    "xhtml": (b'<?xml version="1.0"?><x xmlns="http://www.w3.org/1999/xhtml"/>', "text/html"),
    "svg": (b'<?xml version="1.0"?>\n<!-- x -->\n<svg xmlns="http://www.w3.org/2000/svg">', "image/svg+xml"),
    "svg with a prefix": (b'<s:svg xmlns:s="http://www.w3.org/2000/svg"/>', "image/svg+xml"),
    "svg inside": (b'<x><y xmlns="http://www.w3.org/2000/svg"/></x>', "image/svg+xml"),
    "svg in UTF-16": ("<svg xmlns='http://www.w3.org/2000/svg'/>".encode("utf-16"), "image/svg+xml"),
    "xml": (b'<?xml version="1.0"?><VOTABLE><TABLE/></VOTABLE>', "application/xml"),
    "playlist": (b"#EXTM3U\n#EXT-X-VERSION:3\n", "application/vnd.apple.mpegurl"),
    "text": (b"Ein Wort, noch eins.\nUnd ein Satz.", PLAIN),
    "text of old": ("Öl, alt.\nKein UTF-8.".encode("latin-1"), PLAIN),
    "almost json": (b"{not json at all}", PLAIN),
    "empty": (b"", UNKNOWN),
    "noise": (bytes(range(256)), UNKNOWN),
    "an RIFF of another kind": (b"RIFF\x24\0\0\0XXXX", UNKNOWN),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_file_is_known_by_its_bytes(name: str) -> None:
    content, expected = EXAMPLES[name]
    assert sniff(content) == expected


def test_a_text_that_was_cut_is_still_what_it_is() -> None:
    document = json.dumps([{"name": f"é{n}", "text": "x" * n} for n in range(200)], ensure_ascii=False).encode()
    assert len(document) > SNIFFED_BYTES
    assert sniff(document) == "application/json"
    for cut in range(4):  # also within a character
        text = ("a" * cut + "é" * SNIFFED_BYTES).encode()
        assert sniff(text[:SNIFFED_BYTES]) == PLAIN
    rows = io.StringIO()
    csv.writer(rows).writerows([["a", "b, c", n] for n in range(1000)])
    assert sniff(rows.getvalue().encode()) == "text/csv"


@given(st.binary(max_size=6000))
def test_anything_has_a_type(content: bytes) -> None:
    assert "/" in sniff(content)


PIECES = [
    *(
        b"[",
        b"{",
        b'{"a":',
        b"[[],",
        b'"',
        b"\\",
        b'\\"',
        b"1",
        b"-",
        b"1e",
        b",",
        b":",
        b"]",
        b"}",
        b'"asset":{"version"',
    ),
    *(
        b"<",
        b"<!--",
        b"<?",
        b"?>",
        b"-->",
        b"<!doctype",
        b"<!doctype ",
        b"<!doctype[>",
        b"<a",
        b"<a:svg",
        b"<svg",
        b">",
    ),
    *(
        b"\n",
        b"\r\n",
        b" ",
        b"\t",
        b"\x0b",
        b"\xc2\xa0",
        b"\xe2\x80\xa8",
        b"#\n",
        b"# \n",
        b"o \n",
        b"g x\n",
        b"v 1 2 3",
    ),
    *(
        b"v ",
        b"v 1",
        b"solid\n",
        b"solid \n ",
        b"facet normal",
        b"a,b\n",
        b";",
        b'"a"',
        b"#EXTM3U",
        b"\xff\xfb\x90\x00",
    ),
    *(b"\xff", b"\xff\xfe", b"\xfe\xff<\0", b"\0", b"\xc3", b"\xf0\x9f", b"ftyp", b"RIFF", b"OggS", b"ply\n"),
    *(bytes([byte]) for byte in range(256)),
]
"What a sniffer has an eye for, and every byte."
A_MOMENT = 0.5
"Seconds of the processor that no bytes may take: a hundred times what any takes."


def sniffed_at_once(content: bytes) -> str:
    with given_up_after(A_MOMENT):
        return sniff(content)


def test_an_upload_of_newlines_is_sniffed_in_linear_time() -> None:
    assert sniffed_at_once(b"#\n" + b"\n" * 60 + b"x") == PLAIN


@pytest.mark.parametrize("opened", [b"[", b'{"a":', b'[{"a":', b"[ \n"])
def test_a_document_may_open_more_than_a_stack_has_room_for(opened: bytes) -> None:
    assert sniff(opened * SNIFFED_BYTES) == "application/json"
    assert sniff(opened * 100 + b"!") == PLAIN


@pytest.mark.parametrize("tail", [b"", b"x", b"\n", b"\0", b'"'], ids=repr)
def test_no_piece_can_be_repeated_until_the_sniffer_stands_still(tail: bytes) -> None:
    for piece in PIECES:
        for head in (b"", b"<", b"<!doctype a", b"<?xml", b"#\n", b"[", b'{"', b"solid"):
            content = head + piece * (SNIFFED_BYTES // len(piece))
            for cut in (64, SNIFFED_BYTES - 1, SNIFFED_BYTES):
                assert "/" in sniffed_at_once(content[: cut - len(tail)] + tail)


@given(st.lists(st.tuples(st.sampled_from(PIECES), st.integers(1, 2000)), max_size=8))
def test_no_mixture_of_pieces_can_either(pieces: list[tuple[bytes, int]]) -> None:
    assert "/" in sniffed_at_once(b"".join(piece * count for piece, count in pieces))


@pytest.mark.long
@settings(max_examples=5_000, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PIECES), st.integers(1, 2000)), max_size=40))
def test_nor_can_many_of_them(pieces: list[tuple[bytes, int]]) -> None:
    assert "/" in sniffed_at_once(b"".join(piece * count for piece, count in pieces))


@given(st.sampled_from([e for e in EXAMPLES.values() if e[1] in ("text/html", "image/svg+xml")]), st.text(max_size=50))
def test_what_could_run_is_never_taken_for_something_shown_in_place(example: tuple[bytes, str], behind: str) -> None:
    assert sniff(example[0] + behind.encode("utf-8", "replace")) not in SHOWN_INLINE


@pytest.mark.parametrize(
    ("claimed", "found"),
    [
        ("audio/wav", "audio/wav"),
        ("audio/x-wav", "audio/wav"),
        ("AUDIO/WAV; codecs=1", "audio/wav"),
        ("image/jpg", "image/jpeg"),
        ("audio/m4a", "video/mp4"),
        ("video/mp4", "video/quicktime"),
        ("video/3gpp", "video/mp4"),
        ("video/avi", "video/x-msvideo"),
        ("video/mpeg", "video/mp2t"),
        ("audio/webm", "video/webm"),
        ("image/heic", "image/heif"),
        ("text/csv", PLAIN),
        ("text/plain", "text/csv"),
        ("text/plain; charset=utf-8", PLAIN),
        ("model/gltf+json", "model/gltf+json"),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/zip"),
    ],
)
def test_a_claim_that_the_bytes_support_is_accepted(claimed: str, found: str) -> None:
    assert fits(claimed, found)


@pytest.mark.parametrize(
    ("claimed", "found"),
    [
        ("image/png", "image/jpeg"),
        ("video/mp4", PLAIN),
        ("text/plain", "text/html"),
        ("text/csv", "image/svg+xml"),
        ("application/octet-stream", "text/html"),
        ("application/fits", "text/html"),
        ("application/pdf", "application/zip"),
        ("", PLAIN),
    ],
)
def test_a_claim_that_the_bytes_deny_is_not(claimed: str, found: str) -> None:
    assert not fits(claimed, found)


def test_nothing_that_is_shown_in_place_can_run() -> None:
    assert all(t.split("/")[0] in ("image", "audio", "video") and "svg" not in t for t in SHOWN_INLINE)
    assert {canonical(t) for t in SHOWN_INLINE} == SHOWN_INLINE


BY_SUFFIX = {
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "opus": "audio/ogg",
    "aac": "audio/aac",
    "mp4": "video/mp4",
    "m4v": "video/mp4",
    "mov": "video/quicktime",
    "webm": "video/webm",
    "mkv": "video/x-matroska",
    "flv": "video/x-flv",
    "png": "image/png",
    "jpg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "glb": "model/gltf-binary",
    "fits": "application/fits",
    "csv": "text/csv",
    "json": "application/json",
    "txt": PLAIN,
    "md": PLAIN,
    "xml": "application/xml",
    "gz": "application/gzip",
    "Z": "application/x-compress",
    "xlsx": "application/zip",
    "ods": "application/zip",
}
LYING = {
    "made_empty.mp4": UNKNOWN,
    "empty.fits": UNKNOWN,
    "made_text_as.mp4": PLAIN,
    "html_error_page.fits": "text/html",
    "test_text.txt": "application/json",
}
"Files that are not what their names say."


@pytest.mark.realdata
def test_real_files_are_known() -> None:
    """F-MV-9: the true content type, whatever the extension."""
    if not DATA.is_dir():
        pytest.skip(f"there is no folder {DATA.name} of real files beside the repository")
    wrong = {}
    for path in sorted(p for p in DATA.rglob("*") if p.is_file()):
        expected = LYING.get(path.name, BY_SUFFIX.get(path.suffix[1:]))
        with path.open("rb") as file:
            found = sniff(file.read(SNIFFED_BYTES))
        if expected is not None and found != expected:
            wrong[path.name] = found
    assert wrong == {}
