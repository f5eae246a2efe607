"""Where requests may go: anybody in public over TLS, and whatever the operator has configured."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from typing import TypeAlias

from penstock.net.addresses import is_of_the_machine, is_public
from penstock.net.url import Origin, Url, read_url

Resolver: TypeAlias = Callable[[str, int], Sequence[str]]
"The addresses of a name, for a port; OSError if there are none."

_PORTS = frozenset({443, 8443})


class Policy:
    """Says where a client may go."""

    def __init__(self, trusted: Iterable[str], *, resolve: Resolver) -> None:
        """``trusted`` are URLs whose origins may be private and need no TLS; ValueError if one cannot be read."""
        self._trusted: frozenset[Origin] = frozenset(read_url(url).origin for url in trusted)
        self._resolve = resolve

    def trusts(self, url: Url) -> bool:
        """Has the operator configured this very origin?"""
        return url.origin in self._trusted

    def check(self, url: Url) -> None:
        """ValueError if nobody may go there, as far as can be told before its name is resolved."""
        if self.trusts(url):
            return
        if not url.is_secure:
            raise ValueError("is to be fetched without TLS, and the host is none that is configured")
        if url.port not in _PORTS:
            raise ValueError(f"names the port {url.port}, and the host is none that is configured")
        if url.literal is not None and not is_public(url.literal):
            raise ValueError("names an address that is not public")

    def addresses(self, host: str, port: int, *, trusted: bool, within: float | None) -> list[str]:
        """The addresses of a host, resolved this once, all of them fit; ValueError if one is not.

        One unfit address is enough: whoever mixes a private one in wants it to be tried.
        """
        literal = Url("https", host, port, "/").literal
        found = [literal] if literal is not None else [ip_address(text) for text in self._asked(host, port, within)]
        if not found:
            raise OSError("the name has no address")
        if trusted:
            # A name is its owner's to point anywhere; the operator who wrote an address meant that one.
            if literal is None and any(map(is_of_the_machine, found)):
                raise ValueError("names a host whose address is a machine's own")
        elif not all(map(is_public, found)):
            raise ValueError("names a host whose address is not public")
        return [str(address) for address in found]

    def _asked(self, host: str, port: int, within: float | None) -> Sequence[str]:
        """Nobody can tell a resolver how long it may take, so it is not waited for."""
        answers: list[Sequence[str]] = []
        failures: list[Exception] = []

        def ask() -> None:
            try:
                answers.append(self._resolve(host, port))
            except Exception as error:
                failures.append(error)

        asking = threading.Thread(target=ask, name="penstock-resolver", daemon=True)
        asking.start()
        asking.join(within)
        if failures:
            raise failures[0]
        if not answers:
            raise TimeoutError("timed out")
        return answers[0]


def system_resolver(host: str, port: int) -> list[str]:
    """What the machine's resolver says, each address once."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise OSError(f"the name cannot be resolved ({error.strerror})") from None
    except UnicodeError:
        raise OSError("the name cannot be resolved") from None
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
