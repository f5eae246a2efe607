"""Signed views: a record as an answer shows it, with a URL that was signed just now for each of its files.

    class ClipView(SignedView):
        clip_id: UUID
        clip_url: Annotated[str | None, UrlOf("clip_s3_key", show_as="video/mp4")]
        urls_expire_at: UtcSeconds | None

    ClipView.of(clip, UrlSigner(lambda key, show_as: objects.download_url(key, show_as=show_as)))

Fields that a view shares with its record are taken from it; the keys of files, and URLs once they were sent, are kept
nowhere in an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol, Self

from pydantic import BaseModel

from penstock.declare.entity import Entity
from penstock.errors import InvalidKey
from penstock.ports.stored_object import SignedUrl


class SignUrl(Protocol):
    """Signs a URL for a key. Only what was made here may be shown in place, as what it is known to be."""

    def __call__(self, key: str, *, show_as: str | None = None) -> SignedUrl: ...


class UrlSigner:
    """Signs each file once, however many fields point at it, and knows until when all of the URLs lead there.

    What is always made here is shown in place, as what it is known to be. What may come from elsewhere has the type
    that was found in its bytes, which only the store knows; a page in disguise might be among it, so that a browser
    that opens it by itself saves it. Embedded in a page it is shown all the same.
    """

    def __init__(self, sign: SignUrl) -> None:
        self._sign = sign
        self._signed: dict[str, SignedUrl] = {}

    def url(self, key: str | None, show_as: str | None = None) -> str | None:
        """Where a file can be got; None where there is none."""
        if key is None:
            return None
        if key.endswith("/"):
            raise InvalidKey(f"{key} is a folder, to which no URL leads; sign those of its files")
        if key not in self._signed:
            self._signed[key] = self._sign(key, show_as=show_as)
        return self._signed[key].url

    @property
    def until(self) -> datetime | None:
        """When the first of the URLs ends; None if nothing was signed."""
        return min((signed.expires_at for signed in self._signed.values()), default=None)


@dataclass(frozen=True, slots=True)
class UrlOf:
    """Marks a field of a view: the URL of the file whose key a field of the record holds."""

    key_field: str
    show_as: str | None = None
    "The type of what is always made here, which a browser may show in place."

    def signed(self, record: Entity, signer: UrlSigner) -> Any:
        """The URL; None where there is no file."""
        return signer.url(getattr(record, self.key_field), self.show_as)


@dataclass(frozen=True, slots=True)
class UrlsOf(UrlOf):
    """Marks a field of a view: the URLs of the files whose keys a field of the record holds, a list."""

    def signed(self, record: Entity, signer: UrlSigner) -> Any:
        """The URLs; none where there are no files."""
        return [signer.url(key, self.show_as) for key in getattr(record, self.key_field) or ()]


class SignedView(BaseModel):
    """A view of a record. ``expiry`` names the field, if it has one, that tells when the first of its URLs ends."""

    expiry: ClassVar[str] = "urls_expire_at"

    @classmethod
    def of(cls, record: Entity, signer: UrlSigner, **more: Any) -> Self:
        """The record as it stands; ``more`` are fields that it does not tell by itself."""
        told = {**shared_fields(cls, record), **more}
        for name, url in cls._urls().items():
            told[name] = url.signed(record, signer)
        if cls.expiry in cls.model_fields:
            told[cls.expiry] = signer.until
        return cls(**told)

    @classmethod
    def _urls(cls) -> Mapping[str, UrlOf]:
        marked = ((name, mark) for name, field in cls.model_fields.items() for mark in field.metadata)
        return {name: mark for name, mark in marked if isinstance(mark, UrlOf)}


def shared_fields(view: type[BaseModel], record: Entity) -> dict[str, Any]:
    """The values of the fields that a view has of a record."""
    return record.model_dump(include=set(view.model_fields))
