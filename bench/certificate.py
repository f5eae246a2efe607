"""A throw-away certificate authority and a certificate for 127.0.0.1."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

# Two certificates, because rustls refuses an authority that is also the server.
CONFIG = """
[req]
distinguished_name = name
prompt = no
[name]
CN = bench
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = IP:127.0.0.1, DNS:localhost
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""


@dataclass(frozen=True)
class Certificate:
    """Files in PEM form."""

    authority: Path
    chain: Path
    key: Path


def make_certificate(directory: Path) -> Certificate:
    """Write an authority and a server certificate, valid for a day, with the openssl command."""
    config = directory / "openssl.cnf"
    config.write_text(CONFIG)
    authority, authority_key = directory / "authority.pem", directory / "authority.key"
    made = Certificate(authority, directory / "server.pem", directory / "server.key")
    _request(config, "authority", made.authority, authority_key)
    _request(config, "server", made.chain, made.key, "-CA", authority, "-CAkey", authority_key)
    return made


def _request(config: Path, extensions: str, certificate: Path, key: Path, *signer: str | Path) -> None:
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    form = ("-config", config, "-extensions", extensions, "-days", "1", "-subj", f"/CN=bench {extensions}")
    subprocess.run(
        ("openssl", "req", "-x509", *curve, *form, "-keyout", key, "-out", certificate, *signer),
        check=True,
        capture_output=True,
    )
