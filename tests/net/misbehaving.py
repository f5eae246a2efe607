"""A server on loopback that sends whatever bytes it is told to, with TLS or without."""

from __future__ import annotations

import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

PATIENCE = 20.0
"How long a behaviour may go on, should the client never give up."
Behaviour: TypeAlias = Callable[["Server", socket.socket], None]


class Server:
    """Answers each request by a script, then with a short text; keeps what was asked."""

    def __init__(self, *script: Behaviour, tls: ssl.SSLContext | None = None) -> None:
        self.script = deque(script)
        self.requests: list[bytes] = []
        self.connections = 0
        self.over = threading.Event()
        self._tls = tls
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def url(self, path: str = "/", *, host: str = "127.0.0.1") -> str:
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        # A socket that is only closed goes on accepting for whoever waits on it.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(PATIENCE)

    def _accept(self) -> None:
        while not self.over.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError, ssl.SSLError), connection:
            connection.settimeout(PATIENCE)
            spoken = self._tls.wrap_socket(connection, server_side=True) if self._tls else connection
            with spoken:
                while request := _request(spoken):
                    self.requests.append(request)
                    (self.script.popleft() if self.script else answers())(self, spoken)


def _request(connection: socket.socket) -> bytes:
    """The head of a request; none of those sent here has a body."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(65536)
        if not piece:
            return b""
        head += piece
    return head


def answers(status: int = 200, body: bytes = b"hello", **headers: str) -> Behaviour:
    told = {"Content_Length": str(len(body)), **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in told.items())
    return lambda server, connection: connection.sendall(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body)


def redirects(to: str, status: int = 302) -> Behaviour:
    return answers(status, b"over there", Location=to)


def sends(data: bytes, *, again: bytes = b"", every: float = 0.0) -> Behaviour:
    """Some bytes, and then others without end."""

    def behave(server: Server, connection: socket.socket) -> None:
        connection.sendall(data)
        while again and not server.over.wait(every):
            connection.sendall(again)
        connection.shutdown(socket.SHUT_RDWR)

    return behave


def certificate(folder: Path, *names: str) -> Path:
    """A certificate of names and of 127.0.0.1, and its key, in one file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    now = datetime.now(UTC)
    alternatives = [x509.IPAddress(ip_address("127.0.0.1")), *map(x509.DNSName, names)]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "server.pem"
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path
