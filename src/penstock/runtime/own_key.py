"""The key that `penstock up` makes for the machine it runs on: whoever can read its folder may administer the service.

To ask from this machine proves nothing: a proxy on it does so for everybody, and so does every other user of it. The
file holds the whole header, so that ``curl -H @.penstock/key`` is all it takes.
"""

from __future__ import annotations

import socket
from pathlib import Path

from penstock.auth.api_keys import adopt_key, new_token
from penstock.errors import Misconfigured
from penstock.kernel.store import Store
from penstock.ports.private import keep, make_private
from penstock.schema.role import Role

_HEADER = "Authorization: Bearer "
_TRIES = 5


def own_key(store: Store, *, folder: Path = Path(".penstock")) -> str:
    """The token of this machine's own key, which administers the store; made, and made known to it, where it is not.

    One that was revoked is not used again: there is a new one then.
    """
    path = folder / "key"
    try:
        for _ in range(_TRIES):
            if (token := _kept(path)) is None:
                make_private(folder)
                keep(f"{_HEADER}{new_token()}\n", path)
            elif adopt_key(store, token, name=_name(), role=Role.ADMIN, by="penstock up"):
                return token
            else:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise Misconfigured(
            f"the key of this machine cannot be kept in {path}: {error.strerror}; let the folder be written"
        ) from None
    raise Misconfigured(f"{path} changes all the time; see that one `penstock up` at a time is started in its folder")


def _kept(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip().removeprefix(_HEADER)
    except FileNotFoundError:
        return None


def _name() -> str:
    host = "".join(c for c in socket.gethostname() if c.isprintable())
    return f"penstock up on {host}"[:100]
