"""How much passes through the route of signed URLs at once, and how slowly.

An upload or a download holds a place while it lasts, a thread only while a piece of it is written or read. So clients
that send nothing take places from other uploads, for as long as they may be silent, and from nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from starlette.requests import Request

from penstock.net.pace import SILENCE
from penstock.net.pool import Pool

_UPLOADS, _DOWNLOADS, _OF_A_CLIENT = 64, 96, 4
"One client has a quarter of the places."
_OF_A_URL = 4
"One who sends a file again does not wait for the first attempt to end; nobody sends it ten times at once."


def peer(request: Request) -> str:
    """Who speaks to us, where there is no proxy."""
    return request.client.host if request.client is not None else "unknown"


class Traffic:
    """The limits of one route."""

    def __init__(self, *, client_of: Callable[[Request], str] = peer, silence: timedelta = SILENCE) -> None:
        self.client_of, self.silence = client_of, silence
        self.uploads = Pool("uploads", _UPLOADS, queue=_UPLOADS, share=_UPLOADS // _OF_A_CLIENT)
        self.of_one_url = Pool("uploads to this URL", _UPLOADS, queue=_UPLOADS, share=_OF_A_URL)
        self.downloads = Pool("downloads", _DOWNLOADS, queue=_DOWNLOADS, share=_DOWNLOADS // _OF_A_CLIENT)
        # Whoever has a place above waits as long here as a client may be silent: a slow disk is nobody's fault.
        self.disk = Pool("reading and writing files", 16, queue=4 * _DOWNLOADS, patience=silence)
