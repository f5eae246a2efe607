"""All animals on four legs. Whoever adds one writes an entry where its kin are."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.studio.concept.beast import Beast
from penstock.studio.concept.hoofed import HOOFED
from penstock.studio.concept.predators import PREDATORS
from penstock.studio.concept.scaled import SCALED
from penstock.studio.concept.small_mammals import BURROWERS, RODENTS

BEASTS: tuple[Beast, ...] = (*PREDATORS, *HOOFED, *RODENTS, *SCALED, *BURROWERS)
BEAST_BY_NAME: Mapping[str, Beast] = {each.words.partition("|")[0]: each for each in BEASTS}
