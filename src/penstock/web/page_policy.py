"""What pages of the console may load, and from where: nothing but their own files, and those that people keep."""

from __future__ import annotations

from urllib.parse import urlsplit

import anyio.to_thread

from penstock.errors import PenstockError
from penstock.ports.object_store import Presigner

_ANY_KEY = "a"
_OURS, _NOBODY = "'self'", "'none'"


class PagePolicy:
    """The security policy; where files lie is known to whoever signs URLs, and asked once."""

    def __init__(self, objects: Presigner) -> None:
        self._objects = objects
        self._origins: tuple[str, ...] | None = None

    async def text(self, *, reader: bool = False) -> str:
        """The policy, as its header says it; ``reader`` for the page of the API."""
        if self._origins is None:
            # To sign may mean to look for credentials, which takes long where they are far.
            await anyio.to_thread.run_sync(self._look)
        return page_policy(*self._origins or (), reader=reader)

    def now(self) -> str:
        """The same, for who may wait."""
        if self._origins is None:
            self._look()
        return page_policy(*self._origins or ())

    def _look(self) -> None:
        try:
            url = urlsplit(self._objects.download_url(_ANY_KEY).url)
        except PenstockError:
            return  # asked again with the next page: without files all else works
        self._origins = (f"{url.scheme}://{url.netloc}",)


def page_policy(*origins: str, reader: bool = False) -> str:
    """No script or style but our own, no word that becomes one; files also from these origins.

    The reader of the API has a part that asks for a name of its own before it starts, so that page alone allows it:
    nothing there makes markup by it. In return it has no workers.
    """
    more = "".join(f" {origin}" for origin in origins)
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            f"img-src 'self' data: blob:{more}",
            f"media-src 'self' blob:{more}",
            f"connect-src 'self' blob:{more}",
            f"worker-src {_NOBODY if reader else _OURS}",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            f"trusted-types svelte-trusted-html{' dompurify' if reader else ''}",
        )
    )
