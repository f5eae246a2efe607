"""Whether what a catalogue calls an object may be a classical nova."""

from __future__ import annotations

import re

from penstock.domains.novae.providers.provider import ClassicalNova

_NOVAE = frozenset({"no*", "nova", "novae", "classicalnova", "recurrentnova", "n", "na", "nb", "nc", "nr"})
_UNDECIDED = """
    star * v* variable variablestar ev* irregularv* cv* cataclyv* cataclysmicvar* cataclysmicbinary symbiotic* sy*
    symbioticstar ** doubleorbinarystar eb* eclbin sb* spectrobin be* em* emlinestar emissionlinestar irsrc ir
    infraredsource uv uvsource x xraysrc rad radiosrc gam gammasrc blue bluestar wd* whitedwarf transient ev eruptive*
    pulsv* opt optsrc vis unknown xb* xrb lxb lmxb binary binarystar unclassified other multiple err novalike novaorsn
"""
_PERHAPS = frozenset(_UNDECIDED.split())
"What a nova is called by those who saw it before or long after, or who know only how it shines."
_MARKS = re.compile(r"[\s_\-./()]+")


def kind_of_object(told: str | None) -> ClassicalNova:
    """Yes for what is called one, unknown for what a nova may be called too, and no for anything else."""
    text = _MARKS.sub("", (told or "").lower())
    if not text:
        return ClassicalNova.UNKNOWN
    if text in _NOVAE:
        return ClassicalNova.YES
    if text in _PERHAPS or text.endswith("?") or "candidate" in text:
        return ClassicalNova.UNKNOWN
    return ClassicalNova.NO
