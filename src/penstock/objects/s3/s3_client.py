"""The client of S3: where it connects, with which rights, and what its refusals mean to us.

Region, endpoint and credentials come from where AWS's own tools find them, unless they are given: the environment
(``AWS_ENDPOINT_URL_S3`` among it), profiles, roles.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from penstock.errors import (
    OBJECTS,
    Conflict,
    InvalidKey,
    Misconfigured,
    NotFound,
    PenstockError,
    Throttled,
    Unavailable,
    WrongRange,
)
from penstock.net.outage import Lookout
from penstock.net.per_process import PerProcess

_ABSENT = frozenset({"NoSuchKey", "NoSuchUpload", "404", "NotFound"})
_CHANGED = frozenset({"PreconditionFailed", "412", "ConditionalRequestConflict", "409"})
_THROTTLED = frozenset({"SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequests"})
_RIGHTS = frozenset(
    {
        *("AccessDenied", "403", "Forbidden", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken"),
        *("InvalidToken", "NoSuchBucket", "PermanentRedirect", "AuthorizationHeaderMalformed", "AllAccessDisabled"),
    }
)
_AMAZON = (".amazonaws.com", ".amazonaws.com.cn")


class S3Connection:
    """A client for each process, made when it is first needed."""

    def __init__(
        self,
        bucket: str,
        *,
        region: str | None = None,
        endpoint: str | None = None,
        public_endpoint: str | None = None,
        profile: str | None = None,
        access_key: str | None = None,
        secret_key: str | None = None,
        session_token: str | None = None,
        timeout: timedelta = timedelta(seconds=30),
    ) -> None:
        if find_spec("boto3") is None:
            raise Misconfigured("boto3 is not installed; run: pip install 'penstock[s3]'")
        self.bucket = bucket
        self._region, self._endpoint, self._profile = region, endpoint, profile
        self._public_endpoint = public_endpoint
        "Where others reach the bucket; URLs are signed for it, as a signature holds for one host alone."
        self._access_key, self._secret_key, self._session_token = access_key, secret_key, session_token
        self._seconds = timeout.total_seconds()
        self._opened: PerProcess[tuple[Any, Any]] = PerProcess(self._connect)
        self._signing: PerProcess[Any] = PerProcess(self._connect_for_others)
        self.lookout = Lookout(OBJECTS)
        "While nobody answers there, requests fail at once instead of waiting one by one."

    @property
    def client(self) -> Any:
        return self._opened.get()[1]

    @property
    def signing_client(self) -> Any:
        """What signs URLs. It sends nothing."""
        return self.client if self._public_endpoint is None else self._signing.get()

    def credentials_end(self) -> datetime | None:
        """When the credentials in use end, as far as they tell: those of a role do."""
        session, _ = self._opened.get()
        credentials = session.get_credentials()
        if credentials is None:
            raise Misconfigured("S3: there are no credentials; see AWS's documentation for where they are looked for")
        credentials.get_frozen_credentials()  # renews them if they are about to end
        end: datetime | None = getattr(credentials, "_expiry_time", None)
        return None if end is None else end.astimezone(UTC)

    @contextmanager
    def asked(self, what: str) -> Iterator[None]:
        """A request; Unavailable at once while S3 is known to be away. Refusals are errors of ours, as of `told`."""
        self.lookout.check()
        try:
            with told(what):
                yield
        except Unavailable as failure:
            if failure.part == OBJECTS:  # what is sent may come from elsewhere
                self.lookout.failed(failure, sure=failure.__cause__ is not None)  # not even an answer
            raise
        except PenstockError:
            self.lookout.answered()
            raise
        self.lookout.answered()

    def close(self) -> None:
        signing = self._signing.drop()
        if signing is not None:
            signing.close()
        opened = self._opened.drop()
        if opened is not None:
            opened[1].close()

    def _connect(self) -> tuple[Any, Any]:
        import boto3
        from botocore.exceptions import BotoCoreError

        try:
            # A session of its own: boto3's default one is shared by everybody in the process and not safe for threads.
            session = boto3.session.Session(
                aws_access_key_id=self._access_key,
                aws_secret_access_key=self._secret_key,
                aws_session_token=self._session_token,
                region_name=self._region,
                profile_name=self._profile,
            )
            client = self._client(session, "auto", self._endpoint)
            if urlsplit(client.meta.endpoint_url).hostname.endswith(_AMAZON):
                # Signed for the bucket's own host in its region: the common host would send a client on to it, where
                # the signature no longer fits.
                client = self._client(session, "virtual", self._endpoint)
        except (BotoCoreError, ValueError) as error:
            raise Misconfigured(f"S3 cannot be used: {error}") from error
        return session, client

    def _connect_for_others(self) -> Any:
        session, _ = self._opened.get()
        return self._client(session, "auto", self._public_endpoint)

    def _client(self, session: Any, addressing: str, endpoint: str | None) -> Any:
        from botocore.config import Config

        config = Config(
            signature_version="s3v4",
            connect_timeout=self._seconds,
            read_timeout=self._seconds,
            max_pool_connections=32,
            retries={"mode": "standard", "total_max_attempts": 4},
            # Ours are SHA-256, of the whole; a further one would only be asked of those who upload by signed URLs.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            s3={"addressing_style": addressing},
        )
        # Without any region a store that is not Amazon's would be unreachable, although it has none.
        region = session.region_name or "us-east-1"
        return session.client("s3", region_name=region, endpoint_url=endpoint, config=config)


@contextmanager
def told(what: str) -> Iterator[None]:
    """The refusals of S3 and of the way to it, as errors of ours about one object."""
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ParamValidationError

    try:
        yield
    except ClientError as refused:
        raise _error(refused.response, what) from None
    except NoCredentialsError:
        raise Misconfigured(
            "S3: there are no credentials; see AWS's documentation for where they are looked for"
        ) from None
    except ParamValidationError as error:
        raise InvalidKey(f"S3 cannot have {what}: {error}") from None
    except BotoCoreError as error:
        raise Unavailable(f"S3 could not be asked for {what}: {error}", part=OBJECTS) from error


def _error(answer: dict[str, Any], what: str) -> PenstockError:
    code = str(answer.get("Error", {}).get("Code", ""))
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
    said = f"S3 says {code} of {what}"
    if code in _ABSENT:
        return NotFound(f"there is no {what}")
    if code in _CHANGED:
        return Conflict(said)
    if code == "InvalidRange":
        return WrongRange(f"{what} ends before the bytes that were asked for")
    if code == "KeyTooLongError":
        return InvalidKey(f"the key of {what} is too long for S3")
    if code in _THROTTLED:
        return Throttled(said, part=OBJECTS)
    if code in _RIGHTS or status == 403:
        return Misconfigured(f"{said}; check the bucket's name, its region, and what the credentials may do")
    return Unavailable(said, part=OBJECTS)
