"""One endpoint with all that is needed to talk to it: the signer, the connections, the keys."""

from penstock.engines.dynamodb.wire.credentials import Credentials
from penstock.engines.dynamodb.wire.signing import RequestSigner
from penstock.net.answer import PostAnswer, PostTransport

# DynamoDB takes signatures up to five minutes old; a clock this wrong is not what made it refuse one.
_HARMLESS_SKEW = 60.0


class Channel:
    """Sends signed requests to one endpoint, and mends what can be mended about their signatures."""

    def __init__(self, signer: RequestSigner, transport: PostTransport, credentials: Credentials) -> None:
        self._signer = signer
        self._transport = transport
        self._credentials = credentials
        self._headers = signer.headers
        self._post = transport.post

    def send(self, target: str, body: bytes, *, fresh: bool = False) -> PostAnswer:
        """One attempt; raises Lost. With `fresh`, on a new connection."""
        return self._post(self._headers(target, body), body, fresh=fresh)

    def token(self) -> str | None:
        """The session token requests carry, so that it can be kept out of messages."""
        return self._credentials.current().token

    def renew_keys(self) -> bool:
        """Fetch the keys again. False if these are the only ones there are."""
        renewed = self._credentials.renew()
        self._signer.renew()
        return renewed

    def follow_clock(self, date: bytes | None) -> bool:
        """Sign with the server's time from now on. False if the clock was right all along."""
        server = _timestamp(date)
        if server is None:
            return False
        skew = server - self._signer.time()
        if abs(skew) < _HARMLESS_SKEW:
            return False
        self._signer.skew += skew
        return True

    def close(self) -> None:
        self._transport.close()


def _timestamp(date: bytes | None) -> float | None:
    """The time in an HTTP Date header."""
    from email.utils import parsedate_to_datetime

    if date is None:
        return None
    try:
        return parsedate_to_datetime(date.decode("latin-1")).timestamp()
    except ValueError:
        return None
