"""libcurl, by which every request leaves the process: what all its handles have in common.

Import this module late: it loads pycurl.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import pycurl

from penstock.net.per_process import watch

_RECEIVE_BUFFER = 128 * 1024
_COMMON = (
    (pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1),
    (pycurl.USERAGENT, "penstock"),
    (pycurl.BUFFERSIZE, _RECEIVE_BUFFER),
    (pycurl.TCP_NODELAY, 1),
    (pycurl.TCP_KEEPALIVE, 1),
    (pycurl.NOSIGNAL, 1),
)

WITHOUT_ASKING = "Expect:"
"From one megabyte on libcurl would ask before sending a body, and wait for the answer, unless it is told this."

# What a connection that the server has closed while it was idle looks like.
DEAD = frozenset({pycurl.E_GOT_NOTHING, pycurl.E_SEND_ERROR, pycurl.E_RECV_ERROR})
# What will not get better by trying again.
HOPELESS = frozenset(
    {
        pycurl.E_UNSUPPORTED_PROTOCOL,
        pycurl.E_URL_MALFORMAT,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
    }
)


class CurlHandle:
    """A handle of libcurl, with its connection. In a forked child it is nobody's."""

    __slots__ = ("__weakref__", "_abandoned", "_curl")

    def __init__(self, options: Iterable[tuple[int, Any]], *, ca_bundle: str | None) -> None:
        self._curl = pycurl.Curl()
        self._abandoned = False
        for option, value in (*_COMMON, *options):
            self._curl.setopt(option, value)
        if ca_bundle is not None:
            self._curl.setopt(pycurl.CAINFO, ca_bundle)
        watch(self)

    def close(self) -> None:
        if not self._abandoned:
            self._curl.close()

    def forked(self) -> None:
        """Leave the connection to the parent: even a polite TLS goodbye from here would break it."""
        self._abandoned = True
        abandon(self._curl)


def abandon(owned: object) -> None:
    """Never end it, nor let anybody else: not even Python when it ends."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(owned))
