"""What people have said of what was made, and who else may look at it."""

from __future__ import annotations

from typing import Any

from .full_house import ANN, BEN, FullHouse


def remark(house: FullHouse) -> None:
    """Notes on a film, a picture, a spectrum and a light curve; and a link for a guest."""
    made = house.made
    film, nova = f"/api/musicvideo/projects/{made['film']}", f"/api/novae/datasets/{made['nova']}"
    first = _noted(house, film, "final_video", "The cut comes a little early here.", {"time_ms": 1000, "frame": 12})
    house.post(
        f"/api/review/notes/{first}/replies",
        {"text": "Four frames later, then it meets the beat."},
        who=BEN,
        params={"record": film},
    )
    corner = {"x": 0.6, "y": 0.15, "width": 0.25, "height": 0.4}
    _noted(house, film, "final_video", "Too dark in this corner.", {"time_ms": 2000, "frame": 24, "region": corner})
    head = {"x": 0.38, "y": 0.05, "width": 0.24, "height": 0.3}
    _noted(house, f"/api/{made['sprite_step']}", "refined.png", "The ears could be larger.", {"region": head})
    lines = f"{nova}/SPECTRA/folder/{made['spectra']}"
    _noted(house, lines, "data", "Hα with a P Cygni profile: still optically thick.", {"wavelength": 6563.0})
    body = {"label": "Dana, the client", "rights": ["comment", "decide"], "hours": 72}
    made["guest"] = house.post("/api/review/links", body, params={"record": film})["path"]


def _noted(house: FullHouse, record: str, file: str, text: str, pin: dict[str, Any]) -> str:
    body = {"text": text, "file": file, "pin": pin}
    return str(house.post("/api/review/notes", body, who=ANN, params={"record": record})["note_id"])
