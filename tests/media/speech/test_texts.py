"""Texts: how long they are when spoken, and the pieces in which they are."""

from __future__ import annotations

import time

import pytest

from penstock.media.speech.chunks import chunks
from penstock.media.speech.length import length_of
from penstock.media.speech.speaking import sayable
from penstock.media.speech.voices import Voices, parts_of

PLAIN = "The old boat goes down the river, and tomorrow morning the weather will be cold. "
LONG = "The old boat goes down the river. " * 16
"Two pieces."
HOSTILE = {
    "sevens": "7777777777 ",
    "one number": "7" * 30 + " ",
    "arabic digits": "٧٧٧٧٧٧٧ ",
    "full width": "７７７７７７７ ",
    "money": "$7777777777.77 ",
    "with commas": "777,777,777 ",
    "fractions": "¾",
    "circled": "㊼ ",
    "circled, in a row": "㊼" * 17 + " ",
    "percent": "%",
    "hashes": "# ",
    "plus or minus": "±",
    "powers": "7^",
    "capitals": "W",
    "letters": "w ",
    "abbreviations": "BBC TV ",
    "lines": "a\n",
    "links": "http://www.example.com/a?b=c&d=e#f ",
    "units": "7cc 5mph ",
    "romans": "Ⅷ ",
    "one word": "abcdefghij",
}


def test_a_long_text_of_words_is_not_refused() -> None:
    """As long as is taken at all, and read aloud within the limit."""
    told = length_of((PLAIN * 300)[:20_000])
    assert told.least < 1_200 < told.most
    assert told.within(1_800) == 1_800
    assert length_of((PLAIN * 20)[:1_000]).least < 60


@pytest.mark.parametrize("sign", HOSTILE.values(), ids=HOSTILE)
def test_what_a_text_becomes_is_told_from_its_characters(voices: Voices, sign: str) -> None:
    """Surely no shorter than is told, and hardly longer; a piece is two minutes at most, and a part half a minute."""
    voice = voices.get("en_US-heart")
    text = (sign * 500)[: max(60, len(sign))].strip()
    parts = list(parts_of(voice, text))
    seconds = sum(part.seconds for part in parts)
    told = length_of(text)
    assert told.least <= seconds * 1.2
    assert seconds <= told.most * 1.3
    longest = max(chunks((sign * 500)[:2_000]), key=lambda piece: length_of(piece).most)
    assert len(longest) * seconds / len(text) < 130
    assert max(part.seconds for part in parts) < 40


@pytest.mark.parametrize("sign", ["7", "㊼", "a", "\n", "a. ", "%", '."', ".\t"])
def test_a_text_is_measured_and_parted_in_linear_time(sign: str) -> None:
    text = (sign * 20_000)[:20_000]
    began = time.thread_time()
    length_of(text)
    pieces = list(chunks(text))
    assert time.thread_time() - began < 1
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_pieces_are_whole_sentences() -> None:
    """TA-24: at most 500 characters, and nothing is lost between them."""
    pieces = list(chunks(LONG))
    assert len(pieces) == 2
    assert all(piece.endswith(".") and len(piece) <= 500 for piece in pieces)
    assert " ".join(pieces) == LONG.strip()


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("One, two. Three.", ["One, two.", "Three."]),
        ("One sentence, of two clauses", ["One sentence,", "of two clauses"]),
        ("no marks at all in here", ["no marks at", "all in here"]),
        ("abcdefghijklmnopqrst", ["abcdefghijklmn", "opqrst"]),
        ('He said "no." Then', ['He said "no."', "Then"]),
        ("One\n\n\nTwo", ["One\n\n\nTwo"]),
        ("   ", []),
    ],
)
def test_where_a_text_is_parted(text: str, pieces: list[str]) -> None:
    """TA-24: at a sentence, else at a clause, else at a word, else anywhere."""
    assert list(chunks(text, longest=14)) == pieces


def test_marks_between_paragraphs_are_no_error() -> None:
    """TA-24: a piece that is marks only is left out; a text that is marks only is not."""
    text = f"{LONG}\n{'*' * 1200}\n{LONG}"
    assert len(sayable(text)) < len(list(chunks(text)))
    assert " ".join(sayable(text)).replace("*", "").split() == (LONG * 2).split()
    assert sayable("***") == ["***"]
