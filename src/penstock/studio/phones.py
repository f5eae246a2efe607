"""Words heard in a voice: forced alignment of what is known to be sung, with pocketsphinx."""

from __future__ import annotations

import logging
import re
from importlib.util import find_spec
from typing import Any

import numpy as np

from penstock.studio.mouth import CLOSED, PHONES, Mouth
from penstock.studio.voice import RATE, Samples

log = logging.getLogger("penstock.studio.lip_sync")

_HUNDREDTHS = 100
"Frames of the aligner in a second."
_SPELLED = """
    a=AH b=B c=K d=D e=EH f=F g=G h=HH i=IH j=JH k=K l=L m=M n=N o=OW p=P q=K r=R s=S t=T u=UW v=V w=W x=K+S y=IY z=Z
    ee=IY ea=IY oo=UW ou=AW ai=EY ay=EY oa=OW ow=OW sh=SH ch=CH th=TH ph=F ck=K ng=NG qu=K+W er=ER ar=AA+R or=AO+R
"""
_SIMPLE = {letters: phones.split("+") for letters, phones in (pair.split("=") for pair in _SPELLED.split())}
"How letters are spoken when nobody knows the word."


def spoken(sound: Samples, words: str, frames: int, fps: float) -> list[Mouth] | None:
    """A mouth for each frame from the words that are sung; None if the words cannot be found in the sound."""
    known = re.findall(r"[a-z][a-z']*", words.lower().replace("’", "'"))
    if not known or find_spec("pocketsphinx") is None:
        return None
    phones = _aligned(sound, known)
    if not phones:
        return None
    mouths = [CLOSED] * frames
    for name, start, length in phones:
        first, last = round(start * fps), round((start + length) * fps)
        for n in range(first, min(max(last, first + 1), frames)):
            mouths[n] = PHONES.get(name, CLOSED)
    return mouths


def _aligned(sound: Samples, words: list[str]) -> list[tuple[str, float, float]]:
    """Phones with their start and length in seconds; none if it did not work out."""
    from pocketsphinx import Decoder

    raw = (sound.clip(-1, 1) * 32767).astype(np.int16).tobytes()
    decoder = Decoder(samprate=RATE, bestpath=False, loglevel="FATAL")
    for word in dict.fromkeys(words):
        if decoder.lookup_word(word) is None:
            decoder.add_word(word, guessed(word), True)
    try:
        decoder.set_align_text(" ".join(words))
        _decode(decoder, raw)
        if decoder.hyp() is None:
            return []
        decoder.set_alignment()
        _decode(decoder, raw)
        found = [
            (str(phone.name), phone.start / _HUNDREDTHS, phone.duration / _HUNDREDTHS)
            for word in decoder.get_alignment()
            for phone in word
        ]
    except (RuntimeError, TypeError, ValueError) as error:
        log.info("the words could not be aligned, loudness is used: %s", error)
        return []
    return found


def _decode(decoder: Any, raw: bytes) -> None:
    decoder.start_utt()
    decoder.process_raw(raw, full_utt=True)
    decoder.end_utt()


def guessed(word: str) -> str:
    """How a word that is in no dictionary may be spoken, letter by letter."""
    phones: list[str] = []
    at = 0
    letters = word.replace("'", "")
    while at < len(letters):
        two = letters[at : at + 2]
        step = 2 if two in _SIMPLE and len(two) == 2 else 1
        phones += _SIMPLE.get(letters[at : at + step], ["AH"])
        at += step
    return " ".join(phones) or "AH"
