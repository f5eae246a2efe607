"""Where requests go. botocore knows the regions' endpoints and reads AWS's settings; arguments win."""

from typing import NamedTuple
from urllib.parse import quote, urlsplit

from penstock.engines.dynamodb.wire.errors import Unconfigured

MAIN = "dynamodb"
STREAMS = "dynamodbstreams"

_DEFAULT_PORTS = {"http": 80, "https": 443}
_NO_REGION = "No AWS region is set. Set AWS_REGION or AWS_DEFAULT_REGION, give the profile a region, or pass region."


class Endpoint(NamedTuple):
    """One URL, split as signing needs it: `host` is the Host header, `path` the canonical URI."""

    scheme: str
    host: str
    path: str

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}{self.path}"


def parse(url: str) -> Endpoint:
    """Check and normalise an endpoint URL; user names and default ports are left out, as in a Host header."""
    parts = urlsplit(url)
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise Unconfigured(f"A DynamoDB endpoint looks like https://host or http://host:port, not like {url!r}.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if parts.port not in (None, _DEFAULT_PORTS[parts.scheme]):
        host = f"{host}:{parts.port}"
    return Endpoint(parts.scheme, host, quote(parts.path or "/", safe="/-_.~"))


def find_region() -> str:
    """The region AWS's tools would use here."""
    region = _setting("region")
    if not region:
        raise Unconfigured(_NO_REGION)
    return region


def find_endpoint(service: str, region: str) -> Endpoint:
    """The endpoint AWS's tools would use here for MAIN or STREAMS.

    Where only MAIN was moved elsewhere (to an emulator, a compatible store), STREAMS is there too.
    """
    found = _ask(service, region)
    if service == STREAMS and found == _ask(STREAMS, region, default=True):
        main = _ask(MAIN, region)
        if main != _ask(MAIN, region, default=True):
            found = main
    return parse(found)


def find_ca_bundle() -> str:
    """The file of certificate authorities AWS's tools would trust here."""
    from botocore.httpsession import where

    configured = _setting("ca_bundle")
    if configured:
        return configured
    # The curl library inside pycurl's wheel has no list of its own that exists on every machine.
    bundled: str = where()
    return bundled


def _setting(name: str) -> str | None:
    """A setting of the environment or the chosen profile."""
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    try:
        value: str | None = Session().get_config_variable(name)
    except BotoCoreError as error:
        raise Unconfigured(f"AWS's settings could not be read: {error}") from error
    return value


def _ask(service: str, region: str, *, default: bool = False) -> str:
    """What botocore says, found by letting it build a client; with `default`, as if nothing were set."""
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    try:
        client = Session().create_client(
            service,
            region_name=region,
            # Given so that botocore does not go looking for credentials: no request is made.
            aws_access_key_id="unused",
            aws_secret_access_key="unused",
            # None, not False: False would override the same setting in the environment or the profile.
            config=Config(ignore_configured_endpoint_urls=True if default else None),
        )
    except (BotoCoreError, ValueError) as error:
        raise Unconfigured(f"No endpoint for {service} could be found: {error}") from error
    url: str = client.meta.endpoint_url
    return url
