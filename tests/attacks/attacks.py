"""What strangers did to the service, each varied by chance within bounds, and bounded in count and time."""

from __future__ import annotations

import io
import json
import struct
import time
import wave
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Any
from urllib.parse import quote, urlsplit

from tests.attacks.target import Target

LISTED = "/api/mv/projects?status=pending"
SYNC, JOBS = "/public/tts/sync", "/public/tts/jobs"
Run = Callable[[Target, Random, int], None]


@dataclass(frozen=True)
class Attack:
    """One kind of attack."""

    name: str
    run: Run

    def __str__(self) -> str:
        return self.name


ATTACKS: list[Attack] = []


def attack(run: Run) -> Run:
    ATTACKS.append(Attack(run.__name__, run))
    return run


def at_once(jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    with ThreadPoolExecutor(min(64, len(jobs))) as pool:
        return [f.result() for f in [pool.submit(job) for job in jobs]]


def somewhere(chance: Random) -> dict[str, str]:
    """A guest with an address of his own, as a trusted proxy tells it."""
    return {"X-Forwarded-For": f"203.0.{chance.randrange(256)}.{chance.randrange(256)}"}


def hold(target: Target, sent: Sequence[bytes], *, seconds: float, meanwhile: Callable[[], Any] | None = None) -> None:
    """Send something on a connection each, and go on with none of them for a while."""
    with ExitStack() as stack:
        for each in sent:
            with suppress(OSError):  # it was refused before all of it was sent
                connection = stack.enter_context(closing(target.connect()))
                connection.settimeout(5)
                connection.sendall(each)
        time.sleep(seconds)
        if meanwhile is not None:
            meanwhile()


def head_of(method: str, path: str, **headers: str) -> bytes:
    told = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\n{told}\r\n".encode()


# Guests


@attack
def bodies_without_an_end(target: Target, chance: Random, scale: int) -> None:
    """Requests whose bodies stall half-way, of sizes just below what is taken, or far beyond."""

    def one() -> bytes:
        size = chance.choice([50_000, 1_000_000, 9_900_000, 10**12])
        path = chance.choice([SYNC, JOBS, "/api/films", "/healthz"])
        return head_of("POST", path, Content_Type="application/json", Content_Length=str(size)) + b"x" * min(
            size - 10, 2_000_000
        )

    hold(target, [one() for _ in range(20 * scale)], seconds=1.5)


@attack
def large_bodies(target: Target, chance: Random, scale: int) -> None:
    """Large JSON of every shape, from many at once."""
    shapes: list[Callable[[int], bytes]] = [
        lambda n: b'{"text": "' + b"a" * n + b'"}',
        lambda n: b"[" * n,
        lambda n: b'{"a":' * (n // 5),
        lambda n: b'{"text": [' + b"0," * (n // 2) + b"0]}",
        lambda n: b'{"text": "' + b"\\u0041" * (n // 6) + b'"}',
        lambda n: b"{" + b",".join(b'"%d":1' % i for i in range(n // 10)) + b"}",
    ]
    sizes = [10_000, 60_000, 1_000_000, 9_600_000]
    bodies = [chance.choice(shapes)(chance.choice(sizes)) for _ in range(6)]

    def one() -> None:
        target.ask("POST", chance.choice([SYNC, JOBS]), chance.choice(bodies), somewhere(chance))

    at_once([one] * (20 * scale))


@attack
def half_open_requests(target: Target, chance: Random, scale: int) -> None:
    """Connections that send nothing, or half a head, and stay."""
    begun = b"GET / HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 1000
    heads = [b"", b"G", b"GET / HTTP/1.1\r\n", begun, b"\x16\x03\x01\x02\x00"]
    hold(target, [chance.choice(heads) for _ in range(200 * scale)], seconds=2.0)


@attack
def heads_that_cost(target: Target, chance: Random, scale: int) -> None:
    """Headers, cookies and queries that take long to read, from many at once, some behind another request."""
    health = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
    kinds = [
        health + b'Cookie: a="' + b"\\" * 60_000 + b'"\r\n\r\n',
        health + b'Cookie: a="' + b"\\" * 15_000 + b'"\r\n\r\n',
        health + b"a:\r\n" * 15_000 + b"\r\n",
        health + b"\r\n" + health + b"a:\r\n" * 60_000 + b"\r\n",
        b"GET /objects/x?" + b"a=1&" * 15_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /voices?" + b"a=1&" * 1_900 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ]
    hold(target, [chance.choice(kinds) for _ in range(40 * scale)], seconds=1.0)


@attack
def the_smallest_chunks(target: Target, chance: Random, scale: int) -> None:
    """Bodies of which every few bytes are a chunk."""
    head = head_of("POST", chance.choice(["/nope", SYNC]), Transfer_Encoding="chunked")
    size = chance.choice([1, 2, 40])
    chunks = (b"%x\r\n%s\r\n" % (size, b"x" * size)) * 40_000
    hold(target, [head + chunks] * (10 * scale), seconds=1.0)


@attack
def texts_that_grow(target: Target, chance: Random, scale: int) -> None:
    """Texts that become far longer when they are spoken."""
    kinds = ["9", "9 ", "$1,000,000,000 ", "½", "12:59:59 ", "MMMCMXCIX ", "%", "&", "W", "1e308 ", "²", "www.x.de/1 "]
    kinds += ["12:59:59pm ", "a@b ", "12/31/1999 ", "$1,234,567 ", "㊼", "MDCCLXXVI "]

    def one() -> None:
        text = (chance.choice(kinds) * 20_000)[: chance.choice([900, 1_000, 5_000, 20_000])]
        target.ask("POST", chance.choice([SYNC, JOBS]), {"text": text}, somewhere(chance))

    at_once([one] * (10 * scale))


@attack
def many_speakers(target: Target, chance: Random, scale: int) -> None:
    """As many as can be have long texts spoken while they wait."""
    text = ("The quick brown fox jumps over the lazy dog. " * 30)[: chance.randrange(600, 1_000)]
    at_once([lambda: target.ask("POST", SYNC, {"text": text}, somewhere(chance))] * (30 * scale))


@attack
def nonsense(target: Target, chance: Random, scale: int) -> None:
    """Anything, anywhere: methods, paths, queries, headers, bodies."""
    paths = [p for p in json.loads(target.ask("GET", "/openapi.json")[1])["paths"] if not p.endswith("/events")]
    words = ["", "x", "0", "-1", "null", "%00", "..%2f..%2f", "ö" * 50, "9" * 400, "' or 1=1", "{}", "a" * 999]
    bodies = [None, b"", b"{}", b"[]", b"null", b"\xff\xfe", b'{"text":', b'{"text": 1e999}', b'"\\ud800"']
    methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "X" * 50]
    headers: list[dict[str, str]] = [
        *({}, target.headers, {"Authorization": "Bearer " + "a" * 5000}),
        *({"Idempotency-Key": "k" * 300}, {"X-Api-Key": "ö".encode().decode("latin-1")}),
    ]

    def word() -> str:
        return quote(chance.choice(words), safe="")

    def one() -> None:
        parts = [word() or "x" if part.startswith("{") else part for part in chance.choice(paths).split("/")]
        query = "&".join(f"{word()}={word()}" for _ in range(chance.randrange(4)))
        path, told = "/".join(parts), {**chance.choice(headers), **somewhere(chance)}
        target.ask(chance.choice(methods), f"{path}?{query}", chance.choice(bodies), told)

    at_once([one] * (100 * scale))


# Holders of keys, and of URLs


def project(target: Target, headers: dict[str, str]) -> str:
    """A new project, which takes files."""
    sound = io.BytesIO()
    with wave.open(sound, "wb") as wav:
        wav.setparams((1, 2, 8000, 8000, "NONE", ""))
        wav.writeframes(bytes(16_000))
    fields = {"mode": "music-video", "prompt": "A robot dances", "characterDescription": "A robot"}
    parts = [f'--b\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n'.encode() for n, v in fields.items()]
    file = b'--b\r\nContent-Disposition: form-data; name="audio"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n'
    body = b"".join([*parts, file, sound.getvalue(), b"\r\n--b--\r\n"])
    told = {**headers, "Content-Type": "multipart/form-data; boundary=b"}
    status, made = target.ask("POST", "/api/mv/projects", body, told)
    assert status == 201, made
    return str(json.loads(made)["projectId"])


def reserve(target: Target, headers: dict[str, str], project_id: str, size: int, kind: str) -> Any:
    """A place for a file: how to send it, and its id."""
    asked = {"kind": kind, "size": size, "contentType": {"character": "image/png", "audio": "audio/wav"}[kind]}
    status, body = target.ask("POST", f"/api/mv/projects/{project_id}/uploads", asked, headers)
    assert status in (200, 201, 202), body
    return json.loads(body)


def send(target: Target, headers: dict[str, str], project_id: str, body: bytes) -> int:
    """Send a file as a picture, and say that it is there; what the answer to that is."""
    upload = reserve(target, headers, project_id, len(body), "character")
    url = urlsplit(upload["url"])
    sent, told = target.ask(upload["method"], f"{url.path}?{url.query}", body, upload["headers"])
    assert sent in (200, 201, 204, 503), told
    digest = {"sha256": sha256(body).hexdigest()}
    finalize = f"/api/mv/projects/{project_id}/uploads/{upload['uploadId']}/finalize"
    return target.ask("POST", finalize, digest, headers)[0]


@attack
def idle_uploads(target: Target, chance: Random, scale: int) -> None:
    """Uploads that begin and do not go on, to one URL."""
    headers = target.headers
    upload = reserve(target, headers, project(target, headers), 10_000_000, "audio")
    url = urlsplit(upload["url"])
    told = "".join(f"{n}: {v}\r\n" for n, v in upload["headers"].items())
    head = f"PUT {url.path}?{url.query} HTTP/1.1\r\nHost: {url.netloc}\r\n{told}Content-Length: 10000000\r\n\r\n"
    begun = [head.encode() + b"RIFF" * chance.randrange(9999) for _ in range(40 * scale)]

    def others_are_served() -> None:
        assert target.ask("GET", LISTED, None, headers)[0] == 200

    hold(target, begun, seconds=2.0, meanwhile=others_are_served)


@attack
def bytes_that_confuse(target: Target, chance: Random, scale: int) -> None:
    """Files whose beginnings keep whoever looks at them busy."""
    headers = target.headers
    project_id = project(target, headers)
    heads, tails = [b"", b"#\n", b"<?xml ", b'{"asset":'], [b"x", b"", b"\n", b"]", b"\0"]
    units = [
        *(b"\n", b"#\n", b"[", b"{", b"<", b"<!--", b"v 1 1 1\n", b" ", b'"', b",", b"\xff\xe3", b"solid\n", b"<?"),
        *(b"<!doctype ", b"o \n", b"facet ", b"\r", b"\t\n", b"a,", b"#EXTM3U\n", b"<svg", b"\\"),
    ]

    def one(unit: bytes) -> Callable[[], int]:
        times = chance.choice([61, 4096, 40_000]) // len(unit)
        body = chance.choice(heads) + unit * times + chance.choice(tails)
        return lambda: send(target, headers, project_id, body)

    at_once([lambda: send(target, headers, project_id, b"#\n" + b"\n" * 60 + b"x"), *map(one, units * scale)])


@attack
def pictures_that_grow(target: Target, chance: Random, scale: int) -> None:
    """Small files of very large pictures."""
    headers = target.headers
    project_id = project(target, headers)
    assert send(target, headers, project_id, flat_png(64, 64)) == 202, "a sound one is taken"
    pictures = [flat_png(width, height) for width, height in ((4000, 4000), (8191, 8192), (60_000, 4000))]
    at_once([lambda: send(target, headers, project_id, chance.choice(pictures))] * (6 * scale))


@attack
def many_streams(target: Target, chance: Random, scale: int) -> None:
    """One key opens as many event streams as it can."""
    viewer = target.key("viewer")

    def others_have_streams_too() -> None:
        with closing(target.connect()) as other:
            other.sendall(head_of("GET", "/api/work/events", **target.headers, **somewhere(chance)))
            assert b" 200 " in other.makefile("rb").readline()

    asked = [head_of("GET", "/api/work/events", **viewer)] * (60 * scale)
    hold(target, asked, seconds=2.0, meanwhile=others_have_streams_too)


def flat_png(width: int, height: int) -> bytes:
    """A picture of one colour, as small as it can be."""
    packer = zlib.compressobj(9)
    row = b"\0" * (1 + (width + 7) // 8)
    data = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
