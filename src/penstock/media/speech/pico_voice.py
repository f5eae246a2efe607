"""Voices of SVOX Pico, from the package py-nanotts: six languages in a few megabytes, clear and like a machine.

It speaks in a process of its own: it is written in C, does not let go of Python's lock, and has texts that it never
ends with. None of this may stop a service.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unicodedata
import weakref
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import IO

from penstock.media.speech.chunks import chunks
from penstock.media.speech.errors import SynthesisFailed, Unspeakable
from penstock.media.speech.sound import Sound, joined
from penstock.media.speech.voices import Offer, Quality, is_doubtful, other_script
from penstock.net.per_process import PerProcess

_LESS_AND_MORE = {
    "en-US": ("less than", "greater than"),
    "en-GB": ("less than", "greater than"),
    "de-DE": ("kleiner als", "größer als"),
    "es-ES": ("menor que", "mayor que"),
    "fr-FR": ("inférieur à", "supérieur à"),
    "it-IT": ("minore di", "maggiore di"),
}
"What < and > are read as: it takes them for markup."
LANGUAGES = tuple(_LESS_AND_MORE)
RATE = 16_000
_AT_ONCE = 200
"Characters that it is given at once: some ten seconds of speech."
_LONGEST = 10.0
"Seconds of CPU for one request; a hundred times what the longest takes."
_LONG_WORD = re.compile(r"(\S{30})(?=\S)")
"Of a longer word it leaves out what it does not take in, without a word."
_REPEATED = re.compile(r"([^\w\s])\1{2,}")
_ALPHABET = "cp1252"
"All that it has sounds for; of other letters it gets those that they are made of."
_SILENT = frozenset("™¬¸¨¯´¹º")
"Signs of the alphabet that it does not say, in one language or the other."


def pico_offers() -> list[Offer]:
    """All its voices, where it is installed."""
    if find_spec("py_nanotts") is None:
        return []
    return [
        Offer(f"{language.replace('-', '_')}-pico", language, "pico", partial(PicoVoice, language), Quality.LOW)
        for language in LANGUAGES
    ]


class PicoVoice:
    """One of its languages."""

    def __init__(self, language: str) -> None:
        self._language = language

    def speak(self, text: str) -> Sound:
        return joined(self.stream(text))

    def stream(self, text: str) -> Iterator[Sound]:
        """A part of some seconds after the other."""
        return self.paced(text, 1.0)

    def paced(self, text: str, speed: float) -> Iterator[Sound]:
        letter = other_script(text)
        if letter is not None:
            raise Unspeakable(f"the voice reads Latin script only, and there is a {letter!r} in the text")
        readable = _readable(text, self._language)
        if not any(sign.isalnum() for sign in readable):
            raise Unspeakable("there is nothing in the text that can be said")
        for piece in chunks(readable, longest=_AT_ONCE):
            samples = _PROCESS.get().speak(piece, language=self._language, speed=speed)
            if samples:
                yield Sound(samples, RATE)
            elif any(sign.isalnum() for sign in piece):
                raise SynthesisFailed("Synthesis failed: nothing came of a part of the text")

    def left_out(self, text: str) -> str:
        return "".join(dict.fromkeys(sign for sign in text if is_doubtful(sign) and not _sounds_of(sign)))


class PicoProcess:
    """The process that speaks; one that has ended is replaced by another."""

    def __init__(self, limit: float = _LONGEST) -> None:
        self._limit = limit
        self._turn = Lock()
        self._process = _started()
        self._end = weakref.finalize(self, _ended, self._process)

    def speak(self, text: str, *, language: str, speed: float) -> bytes:
        """Samples; none where it can make nothing of the text."""
        asked = {"text": text, "language": language, "speed": speed, "limit": self._limit}
        request = json.dumps(asked).encode() + b"\n"
        with self._turn:
            try:
                return self._answer(request)
            except OSError:
                self._replace()
                raise SynthesisFailed("Synthesis failed: the voice did not come to an end with the text") from None

    def _answer(self, request: bytes) -> bytes:
        stdin, stdout = _pipes(self._process)
        stdin.write(request)
        stdin.flush()
        length = int.from_bytes(_exactly(stdout, 4), "big")
        return _exactly(stdout, length)

    def _replace(self) -> None:
        self._end()
        self._process = _started()
        self._end = weakref.finalize(self, _ended, self._process)


_PROCESS = PerProcess(PicoProcess)


def _started() -> subprocess.Popen[bytes]:
    # As a file, so that it begins in a moment; and without the folder of that file among those of modules.
    command = [sys.executable, "-P", str(Path(__file__).with_name("pico_process.py"))]
    # What a service knows is nothing for one who reads strangers' texts; Ctrl-C is for the service, which ends it.
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env={}, start_new_session=True)


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in _pipes(process):
        with suppress(OSError):  # what it was told last and has not read
            pipe.close()
    process.wait()


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _exactly(pipe: IO[bytes], length: int) -> bytes:
    read = pipe.read(length)
    if len(read) < length:
        raise BrokenPipeError("it has ended")
    return read


def _readable(text: str, language: str) -> str:
    """A text of which it says every word, and takes nothing for markup."""
    known = "".join(map(_sounds_of_any, text if language == "de-DE" else text.replace("ß", "ss")))
    less, more = _LESS_AND_MORE[language]
    words = _REPEATED.sub(r"\1", known).replace("<", f" {less} ").replace(">", f" {more} ")
    return _LONG_WORD.sub(r"\1 ", words)


def _sounds_of_any(sign: str) -> str:
    return sign if sign.isascii() else _sounds_of(sign) or " "


@lru_cache(maxsize=4096)
def _sounds_of(sign: str) -> str:
    """What it is given for a sign: the sign itself, or what it is made of; nothing where it would say nothing."""
    return "".join(part for part in _parts(sign) if part not in _SILENT and _in_alphabet(part))


def _parts(sign: str) -> str:
    return sign if _in_alphabet(sign) else unicodedata.normalize("NFKD", sign.replace("ẞ", "ß"))


def _in_alphabet(sign: str) -> bool:
    try:
        sign.encode(_ALPHABET)
    except UnicodeEncodeError:
        return False
    return True
