"""Options: a dataclass of what a deployment may choose, read from settings, with one kind of complaint."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import pytest

from penstock.declare.option import duration, number, option, read_options, settings_of, whole
from penstock.errors import Misconfigured


def loud(text: str) -> str:
    if not text.isupper():
        raise ValueError("is not loud; write it in capitals")
    return text


@dataclass(frozen=True)
class Options:
    name: str | None = option("O_NAME", None, "A name.", read=str)
    fps: int = option("O_FPS", 24, "Pictures a second.", read=whole(1, 60))
    share: float = option("O_SHARE", 0.5, "How much of it.", read=number(0, 1))
    life: timedelta = option("O_LIFE", timedelta(hours=1), "How long.", read=duration(1, 86_400))
    shout: str = option("O_SHOUT", "HEY", "What is called.", read=loud, written="hey, loudly")


def test_what_is_not_set_has_its_default() -> None:
    assert read_options(Options, lambda name: None) == Options()
    assert read_options(Options, {"O_FPS": "  "}.get) == Options(None, 24, 0.5, timedelta(hours=1), "HEY")


def test_what_is_set_is_read() -> None:
    found = {"O_NAME": " ann ", "O_FPS": " 30 ", "O_SHARE": "1e-1", "O_LIFE": "60", "O_SHOUT": "YO"}
    assert read_options(Options, found.get) == Options("ann", 30, 0.1, timedelta(minutes=1), "YO")


def test_every_option_is_a_setting_with_its_default_as_it_is_written() -> None:
    told = [(s.variable, s.default, s.help) for s in settings_of(Options)]
    assert told == [
        ("O_NAME", None, "A name."),
        ("O_FPS", 24, "Pictures a second."),
        ("O_SHARE", 0.5, "How much of it."),
        ("O_LIFE", 3600, "How long."),
        ("O_SHOUT", "hey, loudly", "What is called."),
    ]


@pytest.mark.parametrize(
    ("variable", "text", "words"),
    [
        ("O_FPS", "many", "O_FPS='many' is not a whole number from 1 to 60"),
        ("O_FPS", "0", "O_FPS='0' is not a whole number from 1 to 60"),
        ("O_FPS", "1.5", "is not a whole number"),
        ("O_FPS", "1_0", "is not a whole number"),
        ("O_FPS", "٣", "is not a whole number"),
        ("O_FPS", "9" * 5000, "is not a whole number"),
        ("O_SHARE", "nan", "O_SHARE='nan' is not a number from 0 to 1"),
        ("O_SHARE", "inf", "is not a number from 0 to 1"),
        ("O_LIFE", "a day", "O_LIFE='a day' is not a whole number from 1 to 86400"),
        ("O_SHOUT", "hey", "O_SHOUT='hey' is not loud; write it in capitals"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_value_and_what_would_do(variable: str, text: str, words: str) -> None:
    with pytest.raises(Misconfigured) as wrong:
        read_options(Options, {variable: text}.get)
    assert words in str(wrong.value)
    assert len(str(wrong.value)) < 200, "however long the value is"
