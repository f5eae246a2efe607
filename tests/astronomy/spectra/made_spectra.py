"""Spectrum files of every profile, made here: their axes and units are known because they were chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.astronomy.spectra import made_images, made_tables
from tests.astronomy.spectra.fits_bytes import MadeSpectrum

_IMAGES = (
    made_images.equispec,
    made_images.equispec_log,
    made_images.equispec_bands,
    made_images.equispec_apertures,
    made_images.multispec_linear,
    made_images.multispec_chebyshev,
    made_images.multispec_legendre,
    made_images.multispec_cubic,
    made_images.multispec_spline,
    made_images.floyds,
    made_images.bare,
    made_images.extension_image,
    made_images.frequency,
    made_images.velocity,
    made_images.drs,
    made_images.uves,
    made_images.feros,
    made_images.xshooter,
    made_images.packed,
    made_images.scaled,
)
_TABLES = (
    made_tables.sdp,
    made_tables.crires,
    made_tables.cr2res,
    made_tables.spec,
    made_tables.spspec,
    made_tables.apogee,
    made_tables.lamost,
    made_tables.popler,
    made_tables.iue,
    made_tables.x1d,
    made_tables.jwst,
    made_tables.calspec,
    made_tables.fuse,
    made_tables.merged,
    made_tables.row_arrays,
    made_tables.plain_table,
    made_tables.array_rows,
    made_tables.hdu_arrays,
    made_tables.desi,
)
MADE: Mapping[str, Callable[[], MadeSpectrum]] = {maker.__name__: maker for maker in (*_IMAGES, *_TABLES)}
"Every file that is made here, by name."
