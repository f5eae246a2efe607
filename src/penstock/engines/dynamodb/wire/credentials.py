"""Whose name requests are signed in. botocore finds the keys, so whatever AWS's own tools accept works."""

from typing import NamedTuple, Protocol

from penstock.engines.dynamodb.wire.errors import Unconfigured

_NO_CREDENTIALS = (
    "No AWS credentials were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, choose a profile with "
    "AWS_PROFILE, run where a role is attached, or pass access_key and secret_key. "
    "(An emulator takes any two words.)"
)


class AccessKeys(NamedTuple):
    """One set of keys. Shows itself without its secrets."""

    access_key: str
    secret_key: str
    token: str | None = None

    def __repr__(self) -> str:
        return f"Keys({self.access_key!r}, ...)"


class Credentials(Protocol):
    def current(self) -> AccessKeys:
        """The keys to sign with now. Cheap; renews keys that are about to expire."""

    def renew(self) -> bool:
        """Fetch the keys again, as the service calls them expired. False: there is nowhere to fetch from."""


class FixedCredentials:
    """Keys that were passed in. They never change."""

    def __init__(self, keys: AccessKeys) -> None:
        self._keys = keys

    def current(self) -> AccessKeys:
        return self._keys

    def renew(self) -> bool:
        return False


class AmbientCredentials:
    """Keys that botocore finds in environment, profile, role, container or instance, and renews in time."""

    def __init__(self) -> None:
        self._found = _search()

    def current(self) -> AccessKeys:
        from botocore.exceptions import BotoCoreError

        try:
            frozen = self._found.get_frozen_credentials()
        except BotoCoreError as error:
            raise Unconfigured(f"AWS credentials could not be renewed: {error}") from error
        return AccessKeys(frozen.access_key, frozen.secret_key, frozen.token)

    def renew(self) -> bool:
        # A new search, because a login tool may have rewritten a file: botocore reads files only once.
        self._found = _search()
        return True


class _FrozenCredentials(Protocol):
    access_key: str
    secret_key: str
    token: str | None


class _BotocoreCredentials(Protocol):
    """The part of botocore's credentials, fixed or refreshing, that is used here."""

    def get_frozen_credentials(self) -> _FrozenCredentials: ...


def _search() -> _BotocoreCredentials:
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    try:
        found: _BotocoreCredentials | None = Session().get_credentials()
    except BotoCoreError as error:
        raise Unconfigured(f"AWS credentials could not be loaded: {error}") from error
    if found is None:
        raise Unconfigured(_NO_CREDENTIALS)
    return found


def choose(access_key: str | None, secret_key: str | None, session_token: str | None) -> Credentials:
    """Keys that were passed in win; otherwise AWS's own search order decides."""
    if access_key and secret_key:
        return FixedCredentials(AccessKeys(access_key, secret_key, session_token))
    if access_key or secret_key or session_token:
        raise Unconfigured("access_key and secret_key belong together: pass both or neither.")
    return AmbientCredentials()
