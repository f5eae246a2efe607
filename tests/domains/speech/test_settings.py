"""What a deployment chooses, what it is advised, and what it costs."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
import wave
from pathlib import Path
from uuid import uuid4

import pytest

from penstock import FrozenClock
from penstock.cost.meter import Meter
from penstock.declare.option import read_options
from penstock.domains import DOMAINS
from penstock.domains.speech.lifecycle import lifecycle_steps
from penstock.domains.speech.model import DOMAIN, TempAudio
from penstock.domains.speech.options import SpeechOptions
from penstock.domains.speech.say import say
from penstock.errors import Misconfigured
from penstock.media.speech.voices import Voices
from penstock.runtime.composition import open_store
from penstock.runtime.settings import read_settings
from tests.domains.speech.conftest import MADE
from tests.domains.speech.story import GUEST, unset


def test_the_settings_of_the_plan() -> None:
    """TA-23: their names, and their defaults."""
    assert read_options(SpeechOptions, unset) == SpeechOptions(
        "temp-audio", dt.timedelta(days=1), 12, 0, "UTC", None, None
    )
    chosen = {
        "AWS_S3_TEMP_AUDIO_PREFIX": "guests/tmp/",
        "SIGNED_URL_EXPIRY_SECONDS": "600",
        "CELERY_BEAT_SCHEDULE_CLEANUP_HOUR": "3",
        "CELERY_BEAT_SCHEDULE_CLEANUP_MINUTE": "30",
        "PENSTOCK_SPEECH_VOICES": "/models",
        "PENSTOCK_SPEECH_VOICE": "en_US-lessac-medium",
    }
    read = read_options(SpeechOptions, chosen.get)
    assert read == SpeechOptions("guests/tmp", dt.timedelta(minutes=10), 3, 30, "UTC", "/models", "en_US-lessac-medium")
    assert read.cron == "30 3 * * *"


def test_the_table_and_the_region(tmp_path: Path) -> None:
    """TA-1, TA-23: renamed and placed by the plan's variables."""
    found = {"DYNAMODB_TEMP_AUDIO_TABLE": "other_table", "AWS_REGION": "us-east-1"}
    settings = read_settings(DOMAINS, found)
    assert settings.table_names == {"tts_temp_audio": "other_table"}
    assert settings.aws_region == "us-east-1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_S3_TEMP_AUDIO_PREFIX", "../up"),
        ("AWS_S3_TEMP_AUDIO_PREFIX", "trash"),
        ("AWS_S3_TEMP_AUDIO_PREFIX", "a//b"),
        ("SIGNED_URL_EXPIRY_SECONDS", "0"),
        ("SIGNED_URL_EXPIRY_SECONDS", "a day"),
        ("CELERY_BEAT_SCHEDULE_CLEANUP_MINUTE", "60"),
    ],
)
def test_a_wrong_setting_is_named(name: str, value: str) -> None:
    """TA-23."""
    with pytest.raises(Misconfigured, match=name):
        read_options(SpeechOptions, {name: value}.get)


def test_the_lifecycle_rule() -> None:
    """TA-26: two days, on the prefix, as advice; local files have no such rule."""
    (step,) = lifecycle_steps("s3://tts-bucket/tenant?region=us-east-1", "temp-audio")
    assert step.is_advice
    assert "tts-bucket" in step.name
    rule = json.loads(step.detail.splitlines()[-1])
    assert rule["Filter"] == {"Prefix": "tenant/temp-audio/"}
    assert (rule["Expiration"], rule["Status"]) == ({"Days": 2}, "Enabled")
    assert lifecycle_steps("files:///objects") == []


def test_what_a_record_costs(tmp_path: Path) -> None:
    """TA-27, TA-28, F-TA-9: one write for each audio, and its expiry is free."""
    clock, meter = FrozenClock(MADE), Meter()
    store = open_store(f"sqlite:///{tmp_path}/metered.db", clock=clock, meter=meter)
    store.ensure(DOMAIN)
    audio = TempAudio.made(
        uuid4(),
        at=MADE,
        text="Hello world test",
        voice_id="en_US-heart",
        duration=1.3,
        file_size_bytes=62_000,
        ip_address=GUEST,
    )
    store.create(audio)
    assert _written(meter) == 1
    clock.advance(dt.timedelta(days=2))
    assert store.lookup(audio.ref) is None
    before = _written(meter, of="")
    assert store.engine.expire(DOMAIN.shapes, now=clock.now()) == 1, "which is what the reaper asks for"
    assert _written(meter, of="") == before


def _written(meter: Meter, of: str = "TempAudio") -> float:
    return sum(used.write_units for name, used in meter.snapshot().items() if of in name)


# The command line


def test_say_writes_a_file(tmp_path: Path, voices: Voices) -> None:
    """TA-4: `penstock say "Hello world test"`."""
    path = say("Hello world test", out=tmp_path / "hello.wav", voices=voices)
    with wave.open(str(path)) as wav:
        assert 0.8 < wav.getnframes() / wav.getframerate() < 3
    say("No.", "en_US-heart", path, voices=voices)
    with wave.open(str(path)) as wav:
        assert wav.getnframes() / wav.getframerate() < 1


def test_the_command_line_lists_the_voices_and_says_with_one(tmp_path: Path) -> None:
    """TA-4: `penstock voices`, `penstock say --voice`; a wrong one is answered with the list."""

    def penstock(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "penstock", "--domain", "speech", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    voices = json.loads(penstock("voices", "--json").stdout)
    assert voices[0] == {
        "voice_id": "en_US-heart",
        "language": "en-US",
        "quality": "high",
        "engine": "hibari",
        "usual": True,
    }
    said = penstock("say", "Buongiorno 😊", "--voice", "it_IT-pico", "--out", "a.wav")
    assert "Left out, as the voice cannot say it: 😊" in said.stdout
    with wave.open(str(tmp_path / "a.wav")) as wav:
        assert wav.getframerate() == 16_000
    wrong = penstock("say", "Hello", "--voice", "nobody")
    assert wrong.returncode == 2
    assert wrong.stderr.splitlines()[0].endswith(", ".join(voice["voice_id"] for voice in voices))


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    """TA-24: neither models nor a web framework, for whoever only looks at tables."""
    heavy = ("hibari", "onnxruntime", "numpy", "piper", "fastapi")
    code = f"import sys, penstock.domains.speech; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
