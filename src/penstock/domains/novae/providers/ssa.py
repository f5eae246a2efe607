"""Spectra by the Simple Spectral Access protocol, through pyvo, which is loaded with the first question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.domains.novae.providers.answer_screen import USUAL_VOTABLE, VotableLimits
from penstock.domains.novae.providers.found_spectra import OfferedFile, Offers, no_position
from penstock.domains.novae.providers.provider import NovaQuery, ProductSearch
from penstock.domains.novae.providers.vo_answer import VoRow
from penstock.generation.provider_http import ProviderService

_START, _STOP = "char.spectralaxis.coverage.bounds.start", "char.spectralaxis.coverage.bounds.stop"


@dataclass(frozen=True, slots=True)
class SsaProvider:
    """An archive that speaks SSA, asked by position."""

    name: str
    url: str
    service: ProviderService
    radius: float
    "Degrees."
    most: int = 2000
    limits: VotableLimits = USUAL_VOTABLE

    def products(self, nova: NovaQuery) -> ProductSearch:
        """The spectra it has around the nova's position."""
        if nova.position is None:
            return no_position(self.name)
        from pyvo.dal.ssa import SSAQuery

        from penstock.domains.novae.providers.vo_rows import ask
        from penstock.domains.novae.providers.vo_session import vo_session

        with vo_session(self.service, most=self.limits.bytes) as session:
            asked = {"POS": f"{nova.position.ra:.7f},{nova.position.dec:.7f}", "SIZE": f"{2 * self.radius:.7f}"}
            query = SSAQuery(self.url, session=session, **asked, FORMAT="all", MAXREC=self.most)
            answer = ask(query, host=self.service.host, limits=self.limits)
        offers = Offers(self.name, nova.position, self.radius, self.most)
        return offers.search(map(offered_by_ssa, answer.rows), overflow=answer.overflow)


def offered_by_ssa(row: VoRow) -> OfferedFile:
    """What a row of an SSA answer offers."""
    version = "|".join(filter(None, (row.text("dataid.version"), row.text("dataid.date", "curation.date"))))
    return OfferedFile(
        row=row.number,
        native_id=row.text("curation.publisherdid", "ssa_pubdid", "dataid.datasetid", "dataid.creatordid"),
        locator=row.text("access.reference", "accref", "acref", "access_url"),
        format=row.text("access.format", "mime", "access_format"),
        place=row.pair("target.pos", "char.spatialaxis.coverage.location.value"),
        hints=_hints(row),
        version=version or None,
    )


def _hints(row: VoRow) -> dict[str, Any]:
    start, stop = row.angstrom(_START), row.angstrom(_STOP)
    size = row.number_of("access.size")
    told = {
        "title": row.text("dataid.title"),
        "target": row.text("target.name"),
        "instrument": row.text("dataid.instrument"),
        "telescope": row.text("dataid.facility", "provenance.observconfig.facility.name"),
        "collection": row.text("dataid.collection"),
        "observed_at": row.moment("char.timeaxis.coverage.location.value", "char.timeaxis.coverage.bounds.start"),
        "created_at": row.text("dataid.date"),
        "size_estimate": None if size is None else int(size * 1000),
        "points": row.number_of("dataset.length"),
        "wavelength_range": None if start is None or stop is None else sorted((start, stop)),
    }
    return {name: value for name, value in told.items() if value is not None}
