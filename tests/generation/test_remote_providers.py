"""Who works elsewhere is a matter of settings."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from penstock.errors import Misconfigured, Unavailable
from penstock.generation import remote_providers
from penstock.generation.chat_writer import ChatWriter
from penstock.generation.remote_assets import PredictedMesh, PredictedPicture
from penstock.generation.remote_film import PredictedFilm, PredictedLipSync
from penstock.generation.remote_providers import (
    RemoteStep,
    remote_generator,
    remote_lip_sync,
    remote_modeller,
    remote_picture,
    remote_writer,
)
from penstock.generation.steps import Shot
from tests.generation.listening_reporter import ListeningReporter
from tests.generation.prediction_server import TOKEN, PredictionServer

STEPS: dict[str, RemoteStep[Any]] = {
    "ADS_WRITER": remote_writer("ADS_WRITER"),
    "ADS_GENERATOR": remote_generator("ADS_GENERATOR"),
    "ADS_LIPSYNC": remote_lip_sync("ADS_LIPSYNC"),
    "ADS_PICTURE": remote_picture("ADS_PICTURE"),
    "ADS_MODELLER": remote_modeller("ADS_MODELLER"),
}


def full(who: str, **more: str) -> dict[str, str]:
    settings = {"URL": "https://host/v1", "TOKEN": TOKEN, "MODEL": "acme/model", **more}
    return {f"{who}_{name}": value for name, value in settings.items()}


@pytest.mark.parametrize("step", STEPS.values(), ids=list(STEPS))
def test_without_a_setting_nobody_works_elsewhere(step: RemoteStep[Any]) -> None:
    asked: list[str] = []

    def setting(name: str) -> None:
        asked.append(name)

    assert step.provider(setting) is None
    assert sorted(asked) == sorted(s.variable for s in step.settings)
    assert step.provider({f"{step.prefix}_URL": " "}.get) is None


@pytest.mark.parametrize(
    ("who", "adapter"),
    [
        ("ADS_WRITER", ChatWriter),
        ("ADS_GENERATOR", PredictedFilm),
        ("ADS_LIPSYNC", PredictedLipSync),
        ("ADS_PICTURE", PredictedPicture),
        ("ADS_MODELLER", PredictedMesh),
    ],
)
def test_whoever_is_configured_works_elsewhere_and_nobody_else(who: str, adapter: type) -> None:
    found = {prefix: step.provider(full(who).get) for prefix, step in STEPS.items()}
    assert isinstance(found.pop(who), adapter)
    assert list(found.values()) == [None] * 4


def test_only_a_token_is_secret() -> None:
    secret = {s.variable for step in STEPS.values() for s in step.settings if s.secret}
    assert {name.replace("_2_", "_") for name in secret} == {f"{prefix}_TOKEN" for prefix in STEPS}


def test_what_is_set_reaches_the_service(tmp_path: Any) -> None:
    with PredictionServer() as server:
        server.states = ("failed",)
        more = {
            "URL": f" {server.url}/ ",
            "FIELDS": "prompt=text, seed=, seconds = length",
            "INPUT": '{"resolution": "720p"}',
            "LENGTHS": "4, 8",
        }
        generator = STEPS["ADS_GENERATOR"].provider(full("ADS_GENERATOR", **more).get)
        assert generator is not None
        with pytest.raises(Unavailable):
            generator.film(Shot(prompt="x", seconds=5.0, seed=1), tmp_path / "clip.mp4", ListeningReporter())
        (asked,) = server.seen
        assert asked.path == "/v1/models/acme/model/predictions"
        assert asked.json == {"input": {"text": "x", "length": 8, "resolution": "720p"}}
        assert asked.headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ADS_WRITER_URL": "https://host/v1"}, "ADS_WRITER_URL is set and ADS_WRITER_TOKEN, ADS_WRITER_MODEL is not"),
        ({"ADS_LIPSYNC_TOKEN": TOKEN}, "ADS_LIPSYNC_TOKEN is set and ADS_LIPSYNC_URL, ADS_LIPSYNC_MODEL is not"),
        ({"ADS_GENERATOR_PRICE": "1"}, "ADS_GENERATOR_PRICE is set and ADS_GENERATOR_URL, "),
        (full("ADS_WRITER", URL="host"), "ADS_WRITER_URL, ADS_WRITER_TOKEN: the URL of a service begins with ''"),
        (full("ADS_WRITER", TOKEN=f"{TOKEN} x"), "ADS_WRITER_URL, ADS_WRITER_TOKEN: the token of a service"),
        (full("ADS_GENERATOR", MODEL="a b"), "ADS_GENERATOR_MODEL: 'a b' is no model"),
        (full("ADS_GENERATOR", PRICE="much"), "ADS_GENERATOR_PRICE='much' is no price"),
        (full("ADS_GENERATOR", PRICE="-1"), "ADS_GENERATOR_PRICE='-1' is no price"),
        (full("ADS_GENERATOR", PRICE="nan"), "ADS_GENERATOR_PRICE='nan' is no price"),
        (full("ADS_GENERATOR", FIELDS="prompt"), "ADS_GENERATOR_FIELDS='prompt' is no list of names"),
        (
            full("ADS_GENERATOR", FIELDS="prompts=text"),
            "ADS_GENERATOR_FIELDS names 'prompts'; a model is told ",
        ),
        (full("ADS_LIPSYNC", INPUT="[1]"), "ADS_LIPSYNC_INPUT is no object of JSON"),
        (full("ADS_PICTURE", FIELDS="seconds=x"), "ADS_PICTURE_FIELDS names 'seconds'; a model is told aspect_ratio, "),
        (full("ADS_MODELLER", PRICE="free"), "ADS_MODELLER_PRICE='free' is no price"),
        (full("ADS_LIPSYNC", INPUT="{"), "ADS_LIPSYNC_INPUT is no object of JSON"),
        (full("ADS_GENERATOR", LENGTHS="4,0"), "ADS_GENERATOR_LENGTHS='4,0' is no list of seconds"),
        (full("ADS_GENERATOR", FILES="minio:9000"), "ADS_GENERATOR_FILES: the URL of a service begins with 'minio'"),
        (full("ADS_GENERATOR", LENGTHS="four"), "ADS_GENERATOR_LENGTHS='four' is no list of seconds"),
    ],
)
def test_a_half_or_wrong_configuration_is_refused_by_name_and_without_the_token(
    settings: dict[str, str], words: str
) -> None:
    with pytest.raises(Misconfigured, match=words) as wrong:
        for step in STEPS.values():
            step.provider(settings.get)
    assert TOKEN not in str(wrong.value)


def test_a_missing_package_is_answered_with_the_line_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        return None

    monkeypatch.setattr(remote_providers, "find_spec", absent)
    with pytest.raises(Misconfigured, match=r"ADS_WRITER_URL needs pycurl; run: pip install 'penstock\[http\]'"):
        STEPS["ADS_WRITER"].provider(full("ADS_WRITER").get)
    assert STEPS["ADS_WRITER"].provider(absent) is None


def test_who_declares_remote_providers_needs_no_package_for_http() -> None:
    program = "import sys, penstock.generation.remote_providers; print('pycurl' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told == "False\n"
