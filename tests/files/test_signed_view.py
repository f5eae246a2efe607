"""Signed views: a record as an answer shows it, with URLs that were signed just now in place of its keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import ConfigDict

from penstock import Domain, Entity, Table, key
from penstock.files.signed_view import SignedView, UrlOf, UrlSigner, UrlsOf
from penstock.ports.stored_object import SignedUrl
from penstock.schema.object_key import ObjectKey

NOW = datetime(2037, 1, 1, tzinfo=UTC)


class Print(Entity, table=Table("prints", partition="PK"), relation="prints"):
    print_id: str
    title: str
    secret: str = "not for answers"
    file_s3_key: ObjectKey | None = None
    draft_s3_key: ObjectKey | None = None
    page_s3_keys: list[ObjectKey] | None = None

    @key("{print_id}")
    def at(self, *, print_id: str) -> None: ...


DOMAIN = Domain("printing", Print)


class PrintView(SignedView):
    title: str
    copies: int
    file_url: Annotated[str | None, UrlOf("file_s3_key", show_as="image/png")]
    draft_url: Annotated[str | None, UrlOf("draft_s3_key")]
    page_urls: Annotated[list[str], UrlsOf("page_s3_keys")]
    urls_expire_at: datetime | None


class Signing:
    """Keeps what it is asked to sign; each URL lasts an hour less than the one before."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []

    def __call__(self, key: str, *, show_as: str | None = None) -> SignedUrl:
        self.asked.append((key, show_as))
        return SignedUrl(f"https://files/{key}", "GET", NOW - timedelta(hours=len(self.asked)))


def test_a_view_shows_urls_in_place_of_keys() -> None:
    signing = Signing()
    made = Print(print_id="1", title="Austin", file_s3_key="a.png", page_s3_keys=["b.png", "c.png"])
    view = PrintView.of(made, UrlSigner(signing), copies=3)
    assert view.model_dump(mode="json") == {
        "title": "Austin",
        "copies": 3,
        "file_url": "https://files/a.png",
        "draft_url": None,
        "page_urls": ["https://files/b.png", "https://files/c.png"],
        "urls_expire_at": "2036-12-31T21:00:00Z",
    }
    assert signing.asked == [("a.png", "image/png"), ("b.png", None), ("c.png", None)]


def test_a_file_is_signed_once_however_many_fields_point_at_it() -> None:
    signing = Signing()
    signer = UrlSigner(signing)
    made = Print(print_id="1", title="Austin", file_s3_key="a.png", page_s3_keys=["a.png"])
    PrintView.of(made, signer, copies=1)
    PrintView.of(made, signer, copies=2)
    assert signing.asked == [("a.png", "image/png")]


def test_without_files_nothing_is_signed_and_nothing_ends() -> None:
    signing = Signing()
    view = PrintView.of(Print(print_id="1", title="Austin"), UrlSigner(signing), copies=1)
    assert (view.page_urls, view.urls_expire_at, signing.asked) == ([], None, [])


class StrictView(SignedView):
    model_config = ConfigDict(extra="forbid")

    file_url: Annotated[str | None, UrlOf("file_s3_key")]


class LabelView(SignedView):
    expiry = "until"

    file_url: Annotated[str | None, UrlOf("file_s3_key")]
    until: datetime | None


def test_a_view_says_when_its_urls_end_where_it_has_a_field_for_it_and_else_not() -> None:
    made = Print(print_id="1", title="Austin", file_s3_key="a.png")
    told = StrictView.of(made, UrlSigner(Signing())).model_dump()
    assert told == {"file_url": "https://files/a.png"}
    assert LabelView.of(made, UrlSigner(Signing())).until == NOW - timedelta(hours=1)
