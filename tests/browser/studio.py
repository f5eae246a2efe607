"""A small domain whose takes have a file of every kind that a viewer shows, and three decisions about each."""

from __future__ import annotations

import json
import struct
import wave
from enum import StrEnum
from io import BytesIO
from math import exp, pi, sin
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter
from PIL import Image, ImageDraw
from pydantic import Field
from starlette.responses import PlainTextResponse

from penstock import Domain, Entity, IndexKey, Move, Table, UtcSeconds, key, move, pattern
from penstock.auth.access import public
from penstock.plugin import DomainPlugin
from penstock.review.choice_by_move import choice_by_move
from penstock.review.plot import CurvePlot, PlotAxis, PlotSeries
from penstock.review.reviewable import ChoiceKind, Reviewable, ReviewFile, files_of_fields, in_query
from penstock.review.viewer import Viewer
from penstock.schema.object_key import ObjectKey
from penstock.work.domain_context import DomainContext
from tests.media.glbs import glb, tetrahedron

TABLE = Table("BrowserTakes", partition="PK", sort="SK", feed=True)
BY_STATUS = TABLE.index("by-status", partition="GSI1PK", sort="GSI1SK")
CLIP_SECONDS = 2.0


class TakeStatus(StrEnum):
    IN_REVIEW = "in_review"
    APPROVED = "approved"
    REWORK = "rework"
    REJECTED = "rejected"


class Take(Entity, table=TABLE, relation="takes"):
    """A take of a shot."""

    project_id: str
    title: str
    take: Annotated[int, Field(ge=1, le=999)]
    status: TakeStatus = TakeStatus.IN_REVIEW
    film: ObjectKey | None = None
    sound: ObjectKey | None = None
    still: ObjectKey | None = None
    model: ObjectKey | None = None
    spectrum: ObjectKey | None = None
    light_curve: ObjectKey | None = None
    stream: ObjectKey | None = None
    reason: str | None = None
    created_at: UtcSeconds

    @key("PROJECT#{project_id}", "TAKE#{title}#{take:03d}")
    def at(self, *, project_id: str, title: str, take: int) -> None: ...

    in_status = IndexKey(BY_STATUS, "STATUS#{status}", "{created_at}#{title}#{take:03d}")

    @pattern(at, backwards=True)
    def takes(self, *, project_id: str, title: str) -> None:
        """The takes of a shot, newest first."""

    @pattern(in_status)
    def by_status(self, *, status: TakeStatus) -> None:
        """Takes in a state, oldest first."""

    approve = Move(TakeStatus.IN_REVIEW, to=TakeStatus.APPROVED)

    @move(TakeStatus.IN_REVIEW, to=TakeStatus.REWORK)
    def request_changes(self, *, reason: str | None = None) -> None:
        """It is to be made again."""
        self.reason = reason

    @move(TakeStatus.IN_REVIEW, to=TakeStatus.REJECTED)
    def reject(self, *, reason: str) -> None:
        """It is not used."""
        self.reason = reason


def _spectrum(path: Path) -> CurvePlot:
    x, y, error = np.loadtxt(path, delimiter=",").T.tolist()
    flux = PlotAxis("flux", "erg/s/cm²/Å")
    return CurvePlot(
        "spectrum",
        "V1369 Cen, day 12",
        PlotAxis("wavelength in air", "Å"),
        flux,
        (PlotSeries("V1369 Cen", x, y, error=error),),
        ("The flux was taken to be calibrated.",),
    )


def _light_curve(path: Path) -> CurvePlot:
    x, y, error = np.loadtxt(path, delimiter=",").T.tolist()
    bands = [
        PlotSeries(name, x[n::2], [m + n * 0.8 for m in y[n::2]], error=error[n::2])
        for n, name in enumerate(("V", "B"))
    ]
    axis = PlotAxis("magnitude", "mag", inverted=True)
    return CurvePlot("light_curve", "V1369 Cen", PlotAxis("time (MJD)", "d"), axis, tuple(bands))


def _files(context: DomainContext, take: Take) -> list[ReviewFile]:
    found = list(files_of_fields("film", "sound", "still", "model")(context, take))
    if take.stream is not None:
        path = f"/api/reels/{take.title}/{take.take}/master.m3u8"
        found.append(ReviewFile("stream", take.stream, viewer=Viewer.HLS, stream=path))
    if take.spectrum is not None:
        found.append(ReviewFile("spectrum", take.spectrum, viewer=Viewer.SPECTRUM, plot=_spectrum))
    if take.light_curve is not None:
        found.append(
            ReviewFile("light_curve", take.light_curve, "light curve", viewer=Viewer.LIGHT_CURVE, plot=_light_curve)
        )
    return found


DOMAIN = Domain("studio", Take, files=("takes/**",))


def _routes(context: DomainContext) -> APIRouter:
    router = APIRouter(prefix="/api/reels/{title}/{take}")

    def playlist(title: str, take: str, name: str) -> PlainTextResponse:
        stored = context.objects.get(f"takes/{title}/{take}/{name}")
        return PlainTextResponse(stored.read(), media_type="application/vnd.apple.mpegurl")

    @router.get("/master.m3u8", response_class=PlainTextResponse)
    @public(per_minute=600)
    def master(title: str, take: str) -> PlainTextResponse:
        """The rungs of a stream."""
        return playlist(title, take, "master.m3u8")

    @router.get("/{rung}/index.m3u8", response_class=PlainTextResponse)
    @public(per_minute=600)
    def rung(title: str, take: str, rung: str) -> PlainTextResponse:
        """The segments of a rung, by signed URLs."""
        return playlist(title, take, f"{rung}/index.m3u8")

    return router


STUDIO = DomainPlugin(
    DOMAIN,
    routes=_routes,
    reviews=[
        Reviewable(
            Take,
            files=_files,
            versions=lambda take: Take.takes(project_id=take.project_id, title=take.title),
            queue=in_query(lambda take: Take.by_status(status=TakeStatus.IN_REVIEW)),
            waiting={"in_review": Take.by_status(status=TakeStatus.IN_REVIEW)},
            choices=[
                choice_by_move(ChoiceKind.APPROVE, Take.approve),
                choice_by_move(ChoiceKind.REQUEST_CHANGES, Take.request_changes),
                choice_by_move(ChoiceKind.REJECT, Take.reject),
            ],
            title=lambda take: f"{take.title}, take {take.take}",
        )
    ],
)


def still(shade: int = 0) -> bytes:
    """A landscape by night: 960 × 540."""
    picture = Image.linear_gradient("L").resize((960, 540)).convert("RGB")
    picture = Image.merge(
        "RGB",
        (
            picture.getchannel(0).point(lambda v: v // 3),
            picture.getchannel(1).point(lambda v: v // 2),
            picture.getchannel(2),
        ),
    )
    draw = ImageDraw.Draw(picture)
    draw.ellipse((690 - shade, 60, 790 - shade, 160), fill=(250, 240, 200))
    for n, height in enumerate((260, 180, 320, 220, 290)):
        left = 60 + n * 150
        draw.rectangle((left, 540 - height, left + 110, 540), fill=(24 + 8 * n, 28, 48 + shade))
        for x in range(left + 14, left + 96, 28):
            for y in range(560 - height, 520, 36):
                draw.rectangle((x, y, x + 12, y + 16), fill=(255, 214, 120))
    into = BytesIO()
    picture.save(into, "PNG")
    return into.getvalue()


def sound(seconds: float = 4.0, rate: int = 16_000) -> bytes:
    """A few swelling tones as a WAV."""
    time = np.arange(round(seconds * rate)) / rate
    swell = 0.15 + 0.85 * np.abs(np.sin(time * 2.2)) * np.exp(-((time % 1.0) * 1.4))
    tones = np.sin(2 * pi * 220 * time) + 0.5 * np.sin(2 * pi * 330 * time)
    into = BytesIO()
    with wave.open(into, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((tones * swell * 12_000).astype("<i2").tobytes())
    return into.getvalue()


def model() -> bytes:
    """A tetrahedron that turns round in a clip."""
    document, binary = tetrahedron()
    times = struct.pack("<3f", 0, CLIP_SECONDS / 2, CLIP_SECONDS)
    turns = struct.pack("<12f", 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, -1)
    for contents, kind in ((times, "SCALAR"), (turns, "VEC4")):
        view = {"buffer": 0, "byteOffset": len(binary), "byteLength": len(contents)}
        document["bufferViews"].append(view)
        accessor: dict[str, Any] = {"bufferView": len(document["bufferViews"]) - 1, "componentType": 5126, "count": 3}
        accessor |= {"type": kind, **({"min": [0], "max": [CLIP_SECONDS]} if kind == "SCALAR" else {})}
        document["accessors"].append(accessor)
        binary += contents
    at = len(document["accessors"])
    document["animations"] = [
        {
            "name": "turn",
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "rotation"}}],
            "samplers": [{"input": at - 2, "output": at - 1}],
        }
    ]
    document["materials"] = [{"pbrMetallicRoughness": {"baseColorFactor": [0.9, 0.45, 0.2, 1], "metallicFactor": 0.1}}]
    document["meshes"][0]["primitives"][0]["material"] = 0
    document["buffers"] = [{"byteLength": len(binary)}]
    return glb(json.loads(json.dumps(document)), binary)


def spectrum() -> bytes:
    """A nova's spectrum with the lines of hydrogen, as columns."""
    rows = []
    for n in range(1200):
        x = 4000 + n * 2.5
        lines = sum(h * exp(-(((x - at) / 14) ** 2)) for at, h in ((4861, 2.2), (6563, 6.0), (5876, 0.9), (4340, 1.2)))
        y = 1e-13 * (1.4 - (x - 4000) / 5000 + lines + 0.03 * sin(x / 3))
        rows.append(f"{x},{y:.6e},{0.06 * y + 2e-15:.6e}")
    return "\n".join(rows).encode()


def light_curve() -> bytes:
    """A nova that rises in days and fades in months, as columns."""
    rows = []
    for n in range(90):
        day = n * 1.1
        rows.append(f"{56_628 + day},{3.3 + 0.55 * (day + 0.3) ** 0.42 + 0.12 * sin(day):.4f},{0.03 + day / 900:.4f}")
    return "\n".join(rows).encode()
