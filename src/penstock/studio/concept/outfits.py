"""What everybody wears and holds. Whoever adds somebody writes an entry among their like."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.studio.concept.adventurers import ADVENTURERS
from penstock.studio.concept.fabled import FABLED
from penstock.studio.concept.odd_figures import ODD_FIGURES
from penstock.studio.concept.outfit import Outfit
from penstock.studio.concept.trades import TRADES

OUTFITS: tuple[Outfit, ...] = (*ADVENTURERS, *FABLED, *TRADES, *ODD_FIGURES)
BY_NAME: Mapping[str, Outfit] = {outfit.words.partition("|")[0]: outfit for outfit in OUTFITS}
