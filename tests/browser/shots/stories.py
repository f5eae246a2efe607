"""What people have done in the five systems, each in the middle of it and at its end."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from penstock.astronomy.synthetic.demo_folder import make_demo_folder

from .full_house import ANN, FullHouse
from .operation import operate
from .remarks import remark

ROBOT, TRAM, LIGHTHOUSE, FOXES = (
    "Robot exploring Austin, Texas",
    "The last tram home",
    "A lighthouse keeper who paints storms",
    "Two foxes cross a frozen city",
)
NOVA = "V1324 Sco"
SAID = (
    "The train to the mountains leaves at nine.",
    "Please keep a hand on the rail; the last step is steep.",
    "Room four shows the spectra of novae, and what their colours tell.",
)

FPS = 12


def settings_of(folder: Path, *, fine: bool) -> dict[str, str]:
    """A sky to ask, and films that are quick to make; finer ones for pictures that people look at."""
    sky = make_demo_folder(folder, seed=19, nova_name=NOVA)
    size, seconds = ("640x360", "3") if fine else ("160x90", "1")
    return {
        "NC_PROVIDERS": f"folder=local:{sky.folder}",
        "MV_SIZE": size,
        "MV_FPS": str(FPS),
        "MV_SCENE_SECONDS": seconds,
    }


def tell_little(house: FullHouse) -> None:
    """What every screen has something of: a short film, a picture that waits for a decision, and some trouble."""
    _film(house, scenes=1)
    _begin_assets(house)
    _sprite(house)
    _announced(house)
    operate(house, lost=_video(house, TRAM, "A tired conductor", scenes=1))
    _busy(house)


def tell_all(house: FullHouse) -> None:
    """Every story, one after the other."""
    _film(house, scenes=3)
    _assets(house)
    _catalogue(house)
    for text in SAID:
        spoken = house.post("/public/tts/sync", {"text": text})
        house.made["spoken"] = f"{spoken['date']}/{spoken['audio_id']}"
    house.post("/api/nc/novae", {"candidate_name": NOVA})
    house.settle()
    _nova(house)
    operate(house, lost=_video(house, TRAM, "A tired conductor", scenes=1))
    house.made["growing"] = _video(house, LIGHTHOUSE, "An old man with a white beard", scenes=4)
    house.step(3)
    remark(house)
    _busy(house)


def _film(house: FullHouse, *, scenes: int) -> None:
    house.made["film"] = _video(house, ROBOT, "Silver metallic humanoid robot", scenes=scenes)
    house.settle()
    house.post(f"/api/mv/projects/{house.made['film']}/compose")
    house.settle()
    told = house.get(f"/api/mv/projects/{house.made['film']}")
    house.made["frames"] = str(round(told["finalDuration"] * FPS))
    house.made["frames_of_scene"] = str(round(told["scenes"][:2][-1]["duration"] * FPS))


def _busy(house: FullHouse) -> None:
    """A video was just asked for, and the worker has taken it up."""
    _video(house, FOXES, "Two red foxes", scenes=3)
    house.present()
    house.runner.take(1)


def _video(house: FullHouse, concept: str, character: str, *, scenes: int) -> str:
    track = house.client().get("/api/mv/backing_track", params={"prompt": concept, "scenes": scenes})
    said = {"mode": "music-video", "prompt": concept, "characterDescription": character}
    begun = house.post("/api/mv/projects", data=said, files={"audio": ("track.mp3", track.content, "audio/mpeg")})
    house.post(f"/api/mv/projects/{begun['projectId']}/generate", {"scenes": scenes})
    return str(begun["projectId"])


def _begin_assets(house: FullHouse) -> None:
    house.made["creative"] = house.post("/api/ac/projects", {"name": "Red Planet Rangers"})["project_id"]


def _assets(house: FullHouse) -> None:
    """A robot that is done, a fox that was turned back once, and a knight that waits at its second gate."""
    _begin_assets(house)
    robot = house.made["robot"] = _asked(house, "Space ranger robot with a red scarf", "3D_CHARACTER")
    _decide_all(house, robot)
    seen = house.get(f"/api/ac/jobs/{robot}")
    house.made["asset"] = f"{house.made['creative']}/{seen['asset_id']}/{seen['version']}"
    _sprite(house)
    knight = house.made["knight"] = _asked(house, "Old knight with a long sword", "3D_CHARACTER")
    house.settle()
    _decided(house, knight, "approved", notes="Good silhouette.")
    house.settle()


def _sprite(house: FullHouse) -> None:
    sprite = house.made["sprite"] = _asked(house, "Fox in a blue cloak", "2D_SPRITE")
    house.settle()
    _decided(house, sprite, "rejected", notes="The cloak has to be blue.")
    house.settle()


def _asked(house: FullHouse, concept: str, kind: str) -> str:
    body = {"project_id": house.made["creative"], "asset_type": kind, "prompt": {"core_concept": concept}}
    return str(house.post("/api/ac/jobs", body)["job_id"])


def _decided(house: FullHouse, job: str, word: str, **more: Any) -> None:
    review = house.get(f"/api/ac/jobs/{job}")["review"]
    checksums = {file["name"]: file["sha256"] for file in review["artifacts"]}
    house.post(
        f"/api/ac/jobs/{job}/review", {"decision": word, "round": review["round"], "checksums": checksums, **more}
    )


def _decide_all(house: FullHouse, job: str) -> None:
    house.settle()
    while house.get(f"/api/ac/jobs/{job}")["review"] is not None:
        _decided(house, job, "approved")
        house.settle()


def _catalogue(house: FullHouse) -> None:
    """Two films of the studio are in the catalogue, and another one is on its way."""
    project = house.get(f"/api/mv/projects/{house.made['film']}")
    for url, title, category, tags in (
        (project["scenes"][0]["videoClipUrl"], "First light over Austin", "Travel", ["texas", "city"]),
        (project["finalOutputUrl"], "A robot in Austin", "Music", ["robot", "texas"]),
    ):
        said = {"user_id": ANN, "title": title, "category": category, "tags": tags}
        house.made["video"] = _sent(house, house.client().get(url).content, said)
    house.settle()
    _announced(house)


def _announced(house: FullHouse) -> None:
    said = {"user_id": ANN, "title": "Harbour at night", "category": "Travel", "size": 48_000_000}
    house.post("/api/vm/videos", {**said, "file_name": "harbour_night.mp4", "content_type": "video/mp4"})


def _sent(house: FullHouse, film: bytes, said: dict[str, Any]) -> str:
    about = {**said, "file_name": "film.mp4", "size": len(film), "content_type": "video/mp4"}
    begun = house.post("/api/vm/videos", about)
    upload = begun["upload"]
    answer = house.client().request(upload["method"], upload["url"], content=film, headers=upload["headers"])
    assert answer.status_code < 300, answer.text
    house.post(f"/api/vm/submissions/{begun['video_id']}/complete", {"sha256": sha256(film).hexdigest()})
    return str(begun["video_id"])


def _nova(house: FullHouse) -> None:
    (found,) = house.get("/api/nc/novae/by-name", name=NOVA)["items"]
    nova = house.made["nova"] = found["nova_id"]
    datasets = house.get(f"/api/nc/novae/{nova}/datasets")["items"]
    for kind in ("SPECTRA", "PHOTOMETRY"):
        valid = next(e for e in datasets if e["dataset_type"] == kind and e["validation_status"] == "VALID")
        house.made[kind.lower()] = valid["dataset_id"]
    (waits,) = house.get("/api/nc/quarantine")["items"]
    house.made["doubtful"] = waits["dataset_id"]
