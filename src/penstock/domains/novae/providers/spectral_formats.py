"""Which of the forms that an archive offers a spectrum in is taken, by what it says of its type."""

from __future__ import annotations

FITS, UNTOLD, VOTABLE, TEXT, LINKS, OTHER = "fits", "untold", "votable", "text", "datalink", "other"
PREFERENCE = (FITS, UNTOLD, LINKS, VOTABLE, TEXT)
"The best first; what is not here (pictures, pages) is no spectrum that can be read."


def spectral_format(told: str | None) -> str:
    """The kind of a content type, or of what services write instead."""
    text = (told or "").lower().replace(" ", "")
    if not text:
        return UNTOLD
    if "content=datalink" in text:
        return LINKS
    if "fits" in text:
        return FITS
    if "votable" in text or text in ("text/xml", "application/xml"):
        return VOTABLE
    if text.startswith(("text/html", "image/", "video/", "application/pdf", "application/postscript")):
        return OTHER
    if text.startswith(("text/", "application/csv", "ascii", "csv")):
        return TEXT
    return UNTOLD if text in ("application/octet-stream", "application/zip", "application/x-tar") else OTHER
