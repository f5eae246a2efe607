"""Pictures and meshes from a prediction-style service, which is a real server that misbehaves on purpose."""

from __future__ import annotations

import base64
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from penstock.errors import Misconfigured, Unavailable
from penstock.generation.asset_steps import AssetOrder, Modeller, PictureMaker
from penstock.generation.made_file import MESH, PICTURE, MadeFile
from penstock.generation.picture_words import prompt_of
from penstock.generation.predictions import Predictions
from penstock.generation.provider_http import ProviderService
from penstock.generation.remote_assets import PredictedMesh, PredictedPicture
from penstock.generation.steps import Made
from penstock.work import RetryLater, Terminal
from tests.forked import forked
from tests.generation.listening_reporter import Gone, ListeningReporter
from tests.generation.prediction_server import (
    TOKEN,
    Behaviour,
    PredictionServer,
    answers,
    creates_and_drops,
    drips,
    drips_headers,
    drops,
    floods,
    redirects,
    speaks_no_http,
    stays_silent,
    truncates,
    understates,
)
from tests.media.glbs import changed, glb, tetrahedron, texture

ORDER = AssetOrder(
    "character",
    "Space ranger robot",
    style="cel shaded",
    details="with a red scarf",
    seed=7,
    palette=("#c02020", "#8090a0"),
    outline=0.9,
    proportions="chibi",
    order="prj/job/3",
)
PAGE = b"<!doctype html><html><body>Sign in</body></html>"


def picture(form: str = "PNG", size: tuple[int, int] = (256, 160)) -> bytes:
    image, into = Image.new("RGB", size, "white"), BytesIO()
    ImageDraw.Draw(image).ellipse((size[0] * 0.2, size[1] * 0.3, size[0] * 0.6, size[1] * 0.8), fill="firebrick")
    image.save(into, form)
    return into.getvalue()


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


BOMB = b"\x89PNG\r\n\x1a\n" + b"".join(
    [
        chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 6, 0, 0, 0)),
        chunk(b"IDAT", zlib.compress(bytes(1_000_000), 9)),
        chunk(b"IEND", b""),
    ]
)
"A few bytes that are to become fourteen gigabytes."
ENTERED = glb(*tetrahedron(texture()))


class Studio:
    """A server, and one of the two adapters to it."""

    def __init__(self, server: PredictionServer, makes: MadeFile, folder: Path, source: Path) -> None:
        self.server, self.makes, self.folder, self.source = server, makes, folder, source
        self.waited: list[float] = []
        server.film, server.type, server.ending = (
            (picture(), "image/png", ".png") if makes is PICTURE else (ENTERED, "model/gltf-binary", ".glb")
        )
        self.into = folder / ("concept.png" if makes is PICTURE else "mesh.glb")

    def adapter(
        self, *, timeout: float = 5.0, most: int | None = None, **more: Any
    ) -> PredictedPicture | PredictedMesh:
        service = ProviderService(self.server.url, TOKEN, timeout=timedelta(seconds=timeout))
        predictions = Predictions(
            service, "acme/maker", makes=self.makes, price=0.002, most_bytes=most, sleep=self.waited.append
        )
        return (PredictedPicture if self.makes is PICTURE else PredictedMesh)(predictions, **more)

    def make(self, order: AssetOrder = ORDER, reporter: ListeningReporter | None = None, **more: Any) -> Made:
        adapter, told = self.adapter(**more), reporter or ListeningReporter()
        if isinstance(adapter, PredictedPicture):
            return adapter.draw(order, self.into, told)
        return adapter.model(self.source, order, self.into, told)

    @property
    def left(self) -> list[str]:
        return [file.name for file in self.folder.iterdir()]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The picture that a mesh is made after."""
    folder = tmp_path / "before"
    folder.mkdir()
    (folder / "refined.png").write_bytes(picture())
    return folder / "refined.png"


@pytest.fixture
def server() -> Iterator[PredictionServer]:
    with PredictionServer() as server:
        yield server


@pytest.fixture(params=[PICTURE, MESH], ids=["picture", "mesh"])
def studio(request: pytest.FixtureRequest, server: PredictionServer, tmp_path: Path, source: Path) -> Studio:
    return _studio(request.param, server, tmp_path, source)


@pytest.fixture
def pictures(server: PredictionServer, tmp_path: Path, source: Path) -> Studio:
    return _studio(PICTURE, server, tmp_path, source)


@pytest.fixture
def meshes(server: PredictionServer, tmp_path: Path, source: Path) -> Studio:
    return _studio(MESH, server, tmp_path, source)


def _studio(makes: MadeFile, server: PredictionServer, tmp_path: Path, source: Path) -> Studio:
    folder = tmp_path / "made"
    folder.mkdir()
    return Studio(server, makes, folder, source)


# As ordered


def test_a_picture_is_drawn_from_the_order_and_put_where_it_belongs(pictures: Studio) -> None:
    maker: PictureMaker = pictures.adapter(always={"steps": 30})  # type: ignore[assignment]
    reporter = ListeningReporter()
    made = maker.draw(ORDER, pictures.into, reporter)
    (created,) = pictures.server.asked("create")
    told = created.json["input"]
    assert created.path == "/v1/models/acme/maker/predictions"
    assert (told["seed"], told["width"], told["height"], told["steps"]) == (7, 1024, 1024, 30)
    for words in ("Space ranger robot", "red scarf", "cel shaded", "hibi", "thick outlines", "#c02020", "plain white"):
        assert words in told["prompt"]
    assert "watermark" in told["negative_prompt"]
    assert "image" not in told
    with Image.open(pictures.into) as drawn:
        assert (drawn.format, drawn.mode, drawn.size) == ("PNG", "RGBA", (1024, 1024))
        alpha = drawn.getchannel("A")
        assert (alpha.getpixel((0, 0)), alpha.getpixel((512, 512))) == (0, 255)
    assert made.cost == 0.025
    assert made.metrics == {
        "predict_time": 12.5,
        "width": 1024,
        "height": 1024,
        "ground": "cut out",
        "bytes": pictures.into.stat().st_size,
        "provider": "127.0.0.1",
        "model": "acme/maker",
    }
    assert (maker.name, maker.version) == ("127.0.0.1", "acme/maker")
    assert (reporter.remembered, pictures.left) == (["job-1"], ["concept.png"])
    assert reporter.told == sorted(reporter.told)


@pytest.mark.parametrize(
    ("form", "type", "size"),
    [
        ("JPEG", "image/jpeg", (2000, 1500)),
        ("WEBP", "image/webp", (200, 300)),
        ("PNG", "application/octet-stream", (64, 99)),
    ],
)
def test_whatever_form_and_size_a_picture_comes_in(
    pictures: Studio, form: str, type: str, size: tuple[int, int]
) -> None:
    pictures.server.film, pictures.server.type = picture(form, size), type
    assert pictures.make().metrics["ground"] == "cut out"
    with Image.open(pictures.into) as drawn:
        assert (drawn.format, drawn.mode, drawn.size) == ("PNG", "RGBA", (1024, 1024))


def test_a_background_is_wide_and_has_no_hole(pictures: Studio) -> None:
    made = pictures.make(replace(ORDER, kind="background", concept="A ruined city"), fields={"aspect_ratio": "ratio"})
    assert pictures.server.asked("create")[0].json["input"] == {"ratio": "16:9"}
    with Image.open(pictures.into) as drawn:
        assert (drawn.size, drawn.getchannel("A").getextrema()) == ((1280, 720), (255, 255))
    assert made.metrics["ground"] == "kept"


def test_the_words_for_a_model_say_what_was_asked_for_first() -> None:
    words = {kind: prompt_of(replace(ORDER, kind=kind)) for kind in ("character", "prop", "sprite", "background", "?")}
    assert len(set(words.values())) == 4, "what nobody knows is a thing"
    assert all(said.startswith("Space ranger robot.\nwith a red scarf.\n") for said in words.values())
    assert "plain white ground" not in words["background"]
    assert "four legs" in prompt_of(replace(ORDER, rig="QUADRUPED"))
    plain = prompt_of(AssetOrder("prop", "A lamp"))
    assert plain.splitlines()[0] == "A lamp."
    assert len(plain.splitlines()) == 2
    assert len(prompt_of(replace(ORDER, details="so " * 5000))) <= 4000
    assert [prompt_of(replace(ORDER, outline=thick)).count("outlines") for thick in (0.0, 0.5, 7.0, None)] == [
        1,
        1,
        1,
        0,
    ]


def test_a_reference_is_sent_with_the_words(pictures: Studio, source: Path) -> None:
    pictures.make(replace(ORDER, reference=source))
    inline = f"data:image/png;base64,{base64.b64encode(source.read_bytes()).decode()}"
    assert pictures.server.asked("create")[0].json["input"]["image"] == inline


def test_a_mesh_is_made_after_the_picture_and_kept_as_it_came(meshes: Studio, source: Path) -> None:
    maker: Modeller = meshes.adapter(fields={"picture": "front", "faces": "target", "prompt": "text"})  # type: ignore[assignment]
    made = maker.model(source, ORDER, meshes.into, ListeningReporter())
    inline = f"data:image/png;base64,{base64.b64encode(source.read_bytes()).decode()}"
    assert meshes.server.asked("create")[0].json["input"] == {
        "front": inline,
        "target": 3000,
        "text": "Space ranger robot",
    }
    assert meshes.into.read_bytes() == ENTERED
    assert made.cost == 0.025
    found = {name: made.metrics[name] for name in ("faces", "vertices", "textures", "texture_size", "bytes")}
    assert found == {"faces": 4, "vertices": 4, "textures": 1, "texture_size": 8, "bytes": len(ENTERED)}
    assert (made.metrics["provider"], made.metrics["model"]) == ("127.0.0.1", "acme/maker")
    assert meshes.left == ["mesh.glb"]


def test_what_is_measured_counts_more_than_what_the_service_says(meshes: Studio) -> None:
    meshes.server.told = {"cost": 0.4, "metrics": {"faces": 5, "gpu_seconds": 2}}
    made = meshes.make()
    assert (made.cost, made.metrics["faces"], made.metrics["gpu_seconds"]) == (0.4, 4, 2)


@pytest.mark.parametrize(
    "output",
    [
        lambda origin: {"video": f"{origin}/files/x.mp4", "glb": f"{origin}/files/x.glb"},
        lambda origin: [f"{origin}/files/preview.png", f"{origin}/files/x.GLB?sig=1"],
        lambda origin: {"output": [{"model_file": {"url": f"{origin}/files/x.glb"}}]},
        lambda origin: {"mesh": f"{origin}/files/x", "model": f"{origin}/files/y"},
    ],
)
def test_the_mesh_is_found_among_other_files(meshes: Studio, output: Callable[[str], Any]) -> None:
    meshes.server.told = {"output": output(meshes.server.origin)}
    meshes.make()
    (asked,) = meshes.server.asked("file")
    assert asked.path.lower().startswith("/files/x")


def test_an_answer_without_end_is_not_followed_to_it(studio: Studio) -> None:
    deep: Any = "http://127.0.0.1/x"
    for _ in range(300):
        deep = [deep]
    studio.server.told = {"output": deep}
    with pytest.raises(Unavailable, match="names no file"):
        studio.make()
    studio.server.states, studio.server.told = ("failed",), {"error": deep}
    with pytest.raises(Unavailable, match="the prediction failed"):
        studio.make(replace(ORDER, order="another"))


def test_a_part_that_no_model_is_told_is_refused_by_name(studio: Studio) -> None:
    with pytest.raises(Misconfigured, match="is not told duration, only "):
        studio.adapter(fields={"duration": "x"})


# Before anything is paid


def test_a_picture_that_is_none_is_not_sent(studio: Studio, source: Path) -> None:
    for wrong in (BOMB, PAGE, picture()[:100]):
        source.write_bytes(wrong)
        with pytest.raises(Terminal):
            studio.make(replace(ORDER, reference=source))
    assert studio.server.seen == []


def test_a_picture_that_is_too_large_to_send_is_refused(studio: Studio, source: Path) -> None:
    with pytest.raises(Terminal, match=r"refined\.png has \d+ bytes, and a service is sent at most 100"):
        studio.make(replace(ORDER, reference=source), most_inline=100)
    assert studio.server.seen == []


# Once


def test_an_attempt_that_dies_is_gone_on_with(studio: Studio, tmp_path: Path) -> None:
    """Its process ends in the middle of everything, once the job is remembered."""
    remembered = tmp_path / "job"

    def die(job: str) -> None:
        remembered.write_text(job)
        os._exit(9)

    assert forked(lambda: studio.make(reporter=ListeningReporter(on_remember=die))) == 9
    reporter = ListeningReporter()
    studio.make(replace(ORDER, job=remembered.read_text()), reporter)
    assert (len(studio.server.asked("create")), list(studio.server.jobs)) == (1, ["job-1"])
    assert (reporter.remembered, studio.server.asked("cancel")) == ([], [])


def test_a_creation_whose_answer_is_lost_is_not_paid_twice(studio: Studio) -> None:
    studio.server.will("create", creates_and_drops)
    with pytest.raises(Unavailable):
        studio.make()
    studio.make()
    assert (len(studio.server.asked("create")), list(studio.server.jobs)) == (2, ["job-1"])


def test_each_order_is_made_for_itself(studio: Studio) -> None:
    for order in ("a", "b", "b"):
        studio.make(replace(ORDER, order=order))
    assert list(studio.server.jobs) == ["job-1", "job-2"]


def test_nobody_waits_any_more(studio: Studio) -> None:
    studio.server.states = ("processing",)
    with pytest.raises(Gone):
        studio.make(reporter=ListeningReporter(until=3))
    assert [seen.id for seen in studio.server.asked("cancel")] == ["job-1"]
    assert studio.left == []


# What the service does


@pytest.mark.parametrize(
    ("behaviour", "raised"),
    [
        (answers(429, b"", Retry_After="7"), RetryLater),
        (answers(503), RetryLater),
        (answers(500), Unavailable),
        (answers(200, PAGE, Content_Type="text/html"), Unavailable),
        (answers(200, b"{}"), Unavailable),
        (answers(422, b'{"detail": "no such input"}'), Terminal),
        (drops, Unavailable),
        (speaks_no_http, Unavailable),
        (floods, Unavailable),
    ],
    ids=["429", "503", "500", "page", "empty", "422", "drops", "no http", "floods"],
)
def test_a_service_in_trouble_leaves_nothing_behind(
    studio: Studio, behaviour: Behaviour, raised: type[Exception]
) -> None:
    studio.server.will("create", behaviour)
    with pytest.raises(raised, match=r"^127\.0\.0\.1"):
        studio.make()
    assert (len(studio.server.seen), studio.left) == (1, [])


def test_hiccups_on_the_way_cost_no_attempt(studio: Studio) -> None:
    studio.server.will("look", answers(500), drops, answers(429, Retry_After="2"))
    studio.server.will("file", truncates(0.5), drops)
    studio.make()
    assert len(studio.server.asked("create")) == 1
    assert studio.left == [studio.into.name]


@pytest.mark.parametrize(("door", "behaviour"), [("create", stays_silent), ("create", drips), ("file", drips_headers)])
def test_a_slow_service_holds_nobody(studio: Studio, door: str, behaviour: Behaviour) -> None:
    studio.server.states = ("succeeded",)
    studio.server.will(door, *[behaviour] * 4)
    with pytest.raises(Unavailable, match=r"no whole answer within 0\.1 s"):
        studio.make(timeout=0.1)


def test_what_would_fail_again_is_not_tried_again(studio: Studio) -> None:
    studio.server.states, studio.server.told = ("failed",), {"error": "NSFW content detected"}
    with pytest.raises(Terminal, match="NSFW"):
        studio.make()


# The file


@pytest.mark.parametrize(
    "behaviour",
    [
        understates,
        answers(200, PAGE, Content_Type="image/png"),
        answers(200, PAGE),
        answers(200, b'{"error": "not ready"}', Content_Type="application/octet-stream"),
        answers(200, BOMB, Content_Type="application/octet-stream"),
        answers(200, b"\0\0\0\x20ftypisom" + bytes(500), Content_Type="application/octet-stream"),
        answers(200, changed({"accessors.0.count": 2**31 - 1}), Content_Type="application/octet-stream"),
        answers(200, changed({"nodes": [{"mesh": 0}] * 20_001}), Content_Type="application/octet-stream"),
        answers(
            200,
            changed({"images.0": {"uri": "http://127.0.0.1/x.png"}}, picture=texture()),
            Content_Type="application/octet-stream",
        ),
        answers(200, glb(*tetrahedron(BOMB)), Content_Type="application/octet-stream"),
    ],
    ids=["half", "page", "untold", "json", "bomb", "film", "counts", "nodes", "outside", "bomb inside"],
)
def test_a_file_that_is_not_sound_never_gets_a_place(studio: Studio, behaviour: Behaviour) -> None:
    studio.server.states = ("succeeded",)
    studio.server.will("file", *[behaviour] * 4)
    with pytest.raises(Unavailable, match=r"what 127\.0\.0\.1 has made cannot be used: |not of a type"):
        studio.make()
    assert studio.left == []


def test_a_picture_of_nothing_never_gets_a_place(pictures: Studio) -> None:
    blank = BytesIO()
    Image.new("RGB", (256, 256), "white").save(blank, "PNG")
    pictures.server.film = blank.getvalue()
    with pytest.raises(Unavailable, match="nothing in the picture"):
        pictures.make()
    assert pictures.left == []


@pytest.mark.parametrize("type", ["text/html", "video/mp4", "application/json"])
def test_a_file_that_says_it_is_something_else_is_not_read(studio: Studio, type: str) -> None:
    studio.server.will("file", *[answers(200, studio.server.film, Content_Type=type)] * 4)
    with pytest.raises(Unavailable, match="not of a type that was asked for"):
        studio.make()
    assert studio.left == []


@pytest.mark.parametrize("behaviour", [None, floods], ids=["told", "untold"])
def test_a_file_that_is_too_large_is_refused(studio: Studio, behaviour: Behaviour | None) -> None:
    if behaviour:
        studio.server.will("file", behaviour)
    with pytest.raises(Terminal, match="at most 100 are taken"):
        studio.make(most=100)
    assert studio.left == []


@pytest.mark.parametrize("how", ["named", "redirected"])
def test_no_service_leads_a_worker_elsewhere(studio: Studio, how: str) -> None:
    with PredictionServer(studio.server.film) as inside:
        url = f"{inside.origin}/files/secret{studio.server.ending}"
        if how == "named":
            studio.server.told = {"output": url}
        else:
            studio.server.will("file", redirects(url))
        with pytest.raises(Terminal, match="names a file whose URL"):
            studio.make()
        assert inside.seen == []
    assert studio.left == []
