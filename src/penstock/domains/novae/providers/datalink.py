"""Datalink: where an archive names a list of links instead of a file. Import this module late: it loads astropy."""

from __future__ import annotations

from penstock.domains.novae.providers.answer_screen import USUAL_VOTABLE, unusable
from penstock.domains.novae.providers.spectral_formats import PREFERENCE, spectral_format
from penstock.domains.novae.providers.vo_rows import read_answer
from penstock.errors import AnswerTooLong
from penstock.generation.provider_http import ProviderService

_ITSELF = "#this"


def linked_file(service: ProviderService, url: str) -> str:
    """The URL of the product itself; UnusableAnswer if the list has none, or several that nothing tells apart."""
    try:
        _, said = service.fetch("GET", url, most=USUAL_VOTABLE.bytes)
    except AnswerTooLong as long:
        what = f"answered with more than {USUAL_VOTABLE.bytes} bytes"
        raise unusable("ANSWER_TOO_LONG", service.host, what, bytes=long.bytes) from None
    rows = read_answer(said, host=service.host).rows
    links = [
        (PREFERENCE.index(kind), link)
        for row in rows
        if (row.text("semantics") or "").rpartition("/")[2].endswith(_ITSELF)
        and (link := row.text("access_url"))
        and not row.text("error_message")
        and (kind := spectral_format(row.text("content_type"))) in PREFERENCE
    ]
    first = min((rank for rank, _ in links), default=0)
    best = {link for rank, link in links if rank == first}
    if len(best) != 1:
        what = f"lists {len(best)} links to the product itself, and not one"
        raise unusable("LINKS_UNCLEAR", service.host, what, links=len(best))
    return best.pop()
