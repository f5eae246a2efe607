"""Who works elsewhere is a matter of settings."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from penstock.errors import Misconfigured, Unavailable
from penstock.generation import remote as hired
from penstock.generation.chat_writer import ChatWriter
from penstock.generation.ports import Crew, Shot
from penstock.generation.remote import SETTINGS, hired_crew
from penstock.generation.remote_film import PredictedFilm, PredictedLipSync
from tests.domains.musicvideo.listening_desk import ListeningDesk
from tests.domains.musicvideo.prediction_server import TOKEN, PredictionServer

nobody: Any = object()
EMBEDDED = Crew(nobody, nobody, nobody, nobody, nobody)


def full(who: str, **more: str) -> dict[str, str]:
    settings = {"URL": "https://host/v1", "TOKEN": TOKEN, "MODEL": "acme/model", **more}
    return {f"{who}_{name}": value for name, value in settings.items()}


def test_without_a_setting_everybody_is_embedded() -> None:
    asked: list[str] = []

    def setting(name: str) -> None:
        asked.append(name)

    assert hired_crew(setting, EMBEDDED) is EMBEDDED
    assert sorted(asked) == sorted(s.variable for s in SETTINGS)
    assert hired_crew({"MV_WRITER_URL": " "}.get, EMBEDDED) is EMBEDDED


@pytest.mark.parametrize(
    ("who", "member", "adapter"),
    [
        ("MV_WRITER", "writer", ChatWriter),
        ("MV_GENERATOR", "generator", PredictedFilm),
        ("MV_LIPSYNC", "lip_sync", PredictedLipSync),
    ],
)
def test_whoever_is_configured_works_elsewhere_and_nobody_else(who: str, member: str, adapter: type) -> None:
    crew = hired_crew(full(who).get, EMBEDDED)
    assert isinstance(getattr(crew, member), adapter)
    others = {"writer", "generator", "lip_sync", "composer", "artist"} - {member}
    assert all(getattr(crew, other) is nobody for other in others)


def test_what_is_set_reaches_the_service(tmp_path: Any) -> None:
    with PredictionServer() as server:
        server.states = ("failed",)
        more = {
            "URL": f" {server.url}/ ",
            "FIELDS": "prompt=text, seed=, seconds = length",
            "INPUT": '{"resolution": "720p"}',
            "LENGTHS": "4, 8",
        }
        crew = hired_crew(full("MV_GENERATOR", **more).get, EMBEDDED)
        with pytest.raises(Unavailable):
            crew.generator.film(Shot(prompt="x", seconds=5.0, seed=1), tmp_path / "clip.mp4", ListeningDesk())
        (asked,) = server.seen
        assert asked.path == "/v1/models/acme/model/predictions"
        assert asked.json == {"input": {"text": "x", "length": 8, "resolution": "720p"}}
        assert asked.headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"MV_WRITER_URL": "https://host/v1"}, "MV_WRITER_URL is set and MV_WRITER_TOKEN, MV_WRITER_MODEL is not"),
        ({"MV_LIPSYNC_TOKEN": TOKEN}, "MV_LIPSYNC_TOKEN is set and MV_LIPSYNC_URL, MV_LIPSYNC_MODEL is not"),
        ({"MV_GENERATOR_PRICE": "1"}, "MV_GENERATOR_PRICE is set and MV_GENERATOR_URL, "),
        (full("MV_WRITER", URL="host"), "MV_WRITER_URL, MV_WRITER_TOKEN: the URL of a service begins with ''"),
        (full("MV_WRITER", TOKEN=f"{TOKEN} x"), "MV_WRITER_URL, MV_WRITER_TOKEN: the token of a service"),
        (full("MV_GENERATOR", MODEL="a b"), "MV_GENERATOR_MODEL: 'a b' is no model"),
        (full("MV_GENERATOR", PRICE="much"), "MV_GENERATOR_PRICE='much' is no price"),
        (full("MV_GENERATOR", PRICE="-1"), "MV_GENERATOR_PRICE='-1' is no price"),
        (full("MV_GENERATOR", PRICE="nan"), "MV_GENERATOR_PRICE='nan' is no price"),
        (full("MV_GENERATOR", FIELDS="prompt"), "MV_GENERATOR_FIELDS='prompt' is no list of names"),
        (
            full("MV_GENERATOR", FIELDS="prompts=text"),
            "MV_GENERATOR_FIELDS names 'prompts'; a model is told ",
        ),
        (full("MV_LIPSYNC", INPUT="[1]"), "MV_LIPSYNC_INPUT is no object of JSON"),
        (full("MV_LIPSYNC", INPUT="{"), "MV_LIPSYNC_INPUT is no object of JSON"),
        (full("MV_GENERATOR", LENGTHS="4,0"), "MV_GENERATOR_LENGTHS='4,0' is no list of seconds"),
        (full("MV_GENERATOR", FILES="minio:9000"), "MV_GENERATOR_FILES: the URL of a service begins with 'minio'"),
        (full("MV_GENERATOR", LENGTHS="four"), "MV_GENERATOR_LENGTHS='four' is no list of seconds"),
    ],
)
def test_a_half_or_wrong_configuration_is_refused_by_name_and_without_the_token(
    settings: dict[str, str], words: str
) -> None:
    with pytest.raises(Misconfigured, match=words) as wrong:
        hired_crew(settings.get, EMBEDDED)
    assert TOKEN not in str(wrong.value)


def test_a_missing_package_is_answered_with_the_line_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        return None

    monkeypatch.setattr(hired, "find_spec", absent)
    with pytest.raises(Misconfigured, match=r"MV_WRITER_URL needs pycurl; run: pip install 'penstock\[http\]'"):
        hired_crew(full("MV_WRITER").get, EMBEDDED)
    assert hired_crew(absent, EMBEDDED) is EMBEDDED


def test_an_embedded_crew_needs_no_package_for_http() -> None:
    program = "import sys, penstock.generation.remote; print('pycurl' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told == "False\n"
