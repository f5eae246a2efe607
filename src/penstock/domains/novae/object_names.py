"""Names of objects as files write them: which are the same, which are plainly another's, and which are none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from penstock.domains.novae.nova_table import normalize_name

_CONSTELLATIONS = (
    "and ant aps aqr aql ara ari aur boo cae cam cnc cvn cma cmi cap car cas cen cep cet cha cir col com cra crb crv "
    "crt cru cyg del dor dra equ eri for gem gru her hor hya hyi ind lac leo lmi lep lib lup lyn lyr men mic mon mus "
    "nor oct oph ori pav peg per phe pic psc psa pup pyx ret sge sgr sco scl sct ser sex tau tel tri tra tuc uma umi "
    "vel vir vol vul"
)
_WHERE = _CONSTELLATIONS.replace(" ", "|")
_LONGEST = 200
_NUMBERED = re.compile(rf"(?<![a-z0-9])v ?0*([1-9]\d{{1,4}})[ -]*({_WHERE})(?![a-z])")
"V1324 Sco, also within more words: no other text looks like it."
_LETTERED = re.compile(rf"(?:v\* ?|nova |n )?([a-z]{{1,2}})[ -]?({_WHERE})")
_PROVISIONAL = re.compile(rf"(?:nova|n)[ -]?({_WHERE})[ -]?(\d{{4}})(?:[ -]?(?:no\.? ?|n|#)?([1-9a-e]))?")
_CATALOGUES = (
    *("hd", "hr", "hip", "sao", "tyc", "bd", "cd", "cpd", "ngc", "ic", "ugc", "mrk", "pks", "qso", "sn", "hz", "gd"),
    *("ltt", "feige", "eg", "messier"),
)
_CATALOGUED = re.compile(rf"(?:{'|'.join(_CATALOGUES)})[ -]?[+-]?\d[\d .+-]*[a-z]{{0,4}}")
_NO_NAMES = frozenset(
    {
        *("target", "object", "star", "nova", "source", "science", "sky", "none", "na", "nan", "null", "unknown"),
        *("test", "dark", "bias", "flat", "arc", "lamp", "standard", "std", "spectrum", "data", "field", "obj"),
        *("name", "untitled", "object1", "comparison", "calibration", "program"),
    }
)
_SQUASHED = re.compile(r"[^a-z0-9]+")


class NameForm(StrEnum):
    """How a name is built; those of one form can be compared."""

    VARIABLE = "variable star"
    "V1324 Sco, T Pyx."
    PROVISIONAL = "provisional name"
    "Nova Sco 2012."
    CATALOGUED = "catalogue number"
    "HD 30501; a nova that is brought under one goes by it as an alias."


def known_form(name: str) -> tuple[NameForm, str] | None:
    """The form of a name, and the name in its one spelling; None for one that may be anything."""
    plain = normalize_name(name)[:_LONGEST]
    if found := _NUMBERED.search(plain):
        return NameForm.VARIABLE, f"v{found[1]} {found[2]}"
    if found := _PROVISIONAL.fullmatch(plain):
        return NameForm.PROVISIONAL, " ".join(["nova", *filter(None, found.groups())])
    if found := _LETTERED.fullmatch(plain):
        return NameForm.VARIABLE, f"{found[1]} {found[2]}"
    if _CATALOGUED.fullmatch(plain):
        return NameForm.CATALOGUED, squashed(plain)
    return None


def squashed(name: str) -> str:
    """Letters and digits alone."""
    return _SQUASHED.sub("", normalize_name(name)[:_LONGEST])


def is_name(text: str) -> bool:
    """Might it be what an object is called? Not so an empty text, a number, coordinates, or a word such as target."""
    plain = squashed(text)
    if len(plain) < 2 or plain in _NO_NAMES:
        return False
    letters = sum(each.isalpha() for each in plain)
    return letters >= 2 and _PLACE.fullmatch(normalize_name(text)[:_LONGEST]) is None


_PLACE = re.compile(r"[a-z0-9]{0,8} ?j?\d[\d .:hms°'\"]+[+-][\d .:dms°'\"]+")
"Coordinates, also after a catalogue's letters: where something is, and not what it is called."


def goes_by(name: str, names: Iterable[str]) -> bool:
    """Is it one of these names, however it is spelled, or one of them with something after it?"""
    plain, form = squashed(name), known_form(name)
    for known in names:
        own = squashed(known)
        if plain == own or (len(own) > 3 and plain.startswith(own)) or (form is not None and form == known_form(known)):
            return True
    return False


def is_anothers(name: str, names: Iterable[str]) -> bool:
    """Is it plainly another object's name than these: of a form that can be compared, and other?"""
    form = known_form(name)
    if form is None or goes_by(name, names):
        return False
    own = [known for known in map(known_form, names) if known is not None]
    if form[0] is NameForm.PROVISIONAL:
        return _another_nova(form[1], own)
    return form[0] is NameForm.CATALOGUED or any(kind is NameForm.VARIABLE for kind, _ in own)


def _another_nova(name: str, own: list[tuple[NameForm, str]]) -> bool:
    """Nova Sco 2012 may be any variable star of that constellation, as long as no provisional name is known."""
    provisional = [each for kind, each in own if kind is NameForm.PROVISIONAL]
    if provisional:
        return True
    variable = [each for kind, each in own if kind is NameForm.VARIABLE]
    return bool(variable) and all(each.split()[1] != name.split()[1] for each in variable)
