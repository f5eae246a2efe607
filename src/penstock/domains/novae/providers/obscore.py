"""Spectra by the Table Access Protocol from a table of observations (ObsCore), through pyvo, loaded when asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.astronomy.judgement import FileFinding
from penstock.domains.novae.providers.answer_screen import USUAL_VOTABLE, VotableLimits
from penstock.domains.novae.providers.found_spectra import OfferedFile, Offers, no_position
from penstock.domains.novae.providers.provider import NovaQuery, ProductSearch, SkyPlace
from penstock.domains.novae.providers.vo_answer import VoAnswer, VoRow
from penstock.generation.provider_http import ProviderService

_SPECTRA = frozenset({"spectrum", "sed"})
_COLUMNS = (
    "dataproduct_type, calib_level, obs_collection, obs_id, obs_title, obs_publisher_did, access_url, access_format, "
    "access_estsize, target_name, s_ra, s_dec, t_min, t_max, t_exptime, em_min, em_max, em_res_power, facility_name, "
    "instrument_name"
)


@dataclass(frozen=True, slots=True)
class ObsCoreProvider:
    """An archive with a TAP service and a table of observations, asked by position."""

    name: str
    url: str
    service: ProviderService
    radius: float
    "Degrees."
    most: int = 2000
    limits: VotableLimits = USUAL_VOTABLE
    table: str = "ivoa.obscore"

    def products(self, nova: NovaQuery) -> ProductSearch:
        """The spectra it has around the nova's position."""
        if nova.position is None:
            return no_position(self.name)
        from pyvo.dal.tap import TAPQuery

        from penstock.domains.novae.providers.vo_rows import ask
        from penstock.domains.novae.providers.vo_session import vo_session

        with vo_session(self.service, most=self.limits.bytes) as session:
            query = TAPQuery(self.url, self.adql(nova.position), maxrec=self.most, session=session)
            answer = ask(query, host=self.service.host, limits=self.limits)
        offers = Offers(self.name, nova.position, self.radius, self.most)
        return offers.search(
            map(offered_by_obscore, _spectra(answer)), overflow=answer.overflow, findings=self._others(answer)
        )

    def adql(self, around: SkyPlace) -> str:
        """The question, which holds numbers of ours and no text of anybody's."""
        circle = f"CIRCLE('ICRS', {around.ra:.7f}, {around.dec:.7f}, {self.radius:.7f})"
        kinds = ", ".join(f"'{kind}'" for kind in sorted(_SPECTRA))
        return (
            f"SELECT TOP {self.most} {_COLUMNS} FROM {self.table} WHERE dataproduct_type IN ({kinds}) "
            f"AND 1=CONTAINS(POINT('ICRS', s_ra, s_dec), {circle})"
        )

    def _others(self, answer: VoAnswer) -> Iterator[FileFinding]:
        for row in answer.rows:
            kind = row.text("dataproduct_type")
            if kind not in _SPECTRA:
                message = f"row {row.number} of {self.name} is of type {kind!r:.60} and no spectrum; it is left out"
                yield FileFinding("NOT_A_SPECTRUM", message, {"provider": self.name, "row": row.number})


def _spectra(answer: VoAnswer) -> Iterator[VoRow]:
    return (row for row in answer.rows if row.text("dataproduct_type") in _SPECTRA)


def offered_by_obscore(row: VoRow) -> OfferedFile:
    """What a row of ObsCore offers."""
    ra, dec = row.number_of("s_ra"), row.number_of("s_dec")
    return OfferedFile(
        row=row.number,
        native_id=row.text("obs_publisher_did"),
        locator=row.text("access_url"),
        format=row.text("access_format"),
        place=None if ra is None or dec is None else (ra, dec),
        hints=_hints(row),
        version=row.text("obs_release_date", "lastmodified"),
    )


def _hints(row: VoRow) -> dict[str, Any]:
    start, stop = row.angstrom("em_min"), row.angstrom("em_max")
    size = row.number_of("access_estsize")
    told = {
        "title": row.text("obs_title"),
        "target": row.text("target_name"),
        "instrument": row.text("instrument_name"),
        "telescope": row.text("facility_name"),
        "collection": row.text("obs_collection"),
        "observation": row.text("obs_id"),
        "observed_at": row.moment("t_min"),
        "exposure_seconds": row.number_of("t_exptime"),
        "resolving_power": row.number_of("em_res_power"),
        "calibration_level": row.number_of("calib_level"),
        "size_estimate": int(size * 1000) if size and size > 0 else None,
        "wavelength_range": None if start is None or stop is None else sorted((start, stop)),
    }
    return {name: value for name, value in told.items() if value is not None}
