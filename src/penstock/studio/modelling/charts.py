"""The charts of a texture: regions of a mesh within which the texture goes on without a seam."""

from __future__ import annotations

import numpy as np

from penstock.studio.modelling.model import Doubles, Mask, Whole
from penstock.studio.modelling.topology import Edges, edges_of, pieces

_MOST_CUTS = 24


def charts_of(places: Whole, spots: Whole, middles: Doubles) -> Whole:
    """For each triangle which chart it belongs to; wherever a seam is, there are two charts beside it.

    ``places`` and ``spots`` are triangles: numbers of their corners' places, and of places with texture coordinates.
    ``middles`` are the texture coordinates of their middles. A chart that meets itself, as the label around a bottle
    does, is cut into two.
    """
    edges = edges_of(places, int(places.max()) + 1)
    inner = edges.uses == 2
    seam = _seams(edges, inner, places, spots)
    charts = pieces(len(places), edges.sides[inner & ~seam])
    one, other = edges.sides[seam].T
    for _ in range(_MOST_CUTS):
        meeting = np.unique(charts[one][charts[one] == charts[other]])
        if not len(meeting):
            break
        for chart in meeting:
            mine = np.flatnonzero(charts == chart)
            axis = int(np.ptp(middles[mine], axis=0).argmax())
            far = middles[mine, axis] > np.median(middles[mine, axis])
            charts[mine[far]] = int(charts.max()) + 1
    return charts


def _seams(edges: Edges, inner: Mask, places: Whole, spots: Whole) -> Mask:
    """Edges at whose ends the two triangles beside them have different texture coordinates."""
    found = np.zeros(len(inner), dtype=bool)
    for end in (0, 1):
        at = []
        for side in (0, 1):
            face = np.where(inner, edges.sides[:, side], 0)
            corner = (places[face] == edges.pairs[:, end, None]).argmax(axis=1)
            at.append(spots[face, corner])
        found |= inner & (at[0] != at[1])
    return found
