"""Signed URLs for downloads: they open what they say, to whoever has them, until they expire, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from penstock.errors import InvalidValue
from penstock.ports.object_store import ObjectStore
from penstock.testing.object_promises.promise import HTML, PNG, WAV, ObjectPromise, send, soon

HOUR = timedelta(hours=1)


class SignedDownloads(ObjectPromise):
    """`download_url`."""

    def test_a_signed_url_opens_the_object(self, objects: ObjectStore) -> None:
        objects.put("a b/é+&.wav", WAV)
        answer = send(objects.download_url("a b/é+&.wav"))
        assert (answer.status, answer.body) == (200, WAV)
        assert answer.headers["content-length"] == str(len(WAV))
        assert answer.headers["content-type"] == "audio/wav"

    def test_without_its_signature_it_opens_nothing(self, objects: ObjectStore) -> None:
        objects.put("a.wav", WAV)
        bare = objects.download_url("a.wav").url.partition("?")[0]
        assert send(bare).status in (401, 403)

    def test_a_range_of_it_can_be_asked_for(self, objects: ObjectStore) -> None:
        objects.put("digits", b"0123456789")
        url = objects.download_url("digits")
        for asked, body, told in (
            ("bytes=2-4", b"234", "bytes 2-4/10"),
            ("bytes=7-", b"789", "bytes 7-9/10"),
            ("bytes=-2", b"89", "bytes 8-9/10"),
            ("bytes=8-99", b"89", "bytes 8-9/10"),
        ):
            answer = send(url, headers={"Range": asked})
            assert (answer.status, answer.body, answer.headers["content-range"]) == (206, body, told)
        assert send(url, headers={"Range": "bytes=10-"}).status == 416

    def test_the_default_is_an_hour_and_the_moment_is_told(self, objects: ObjectStore) -> None:
        """MV-59, F-MV-12: 3,600 seconds, another by choice; when it ends is told."""
        chosen = timedelta(minutes=5)
        for url, lasts in ((objects.download_url("a"), HOUR), (objects.download_url("a", expires=chosen), chosen)):
            assert abs(url.expires_at - datetime.now(UTC) - lasts) < timedelta(seconds=5)

    def test_seven_days_is_the_longest(self, objects: ObjectStore) -> None:
        """F-MV-12: S3 signs for no longer, so nobody does."""
        url = objects.download_url("a", expires=timedelta(days=30))
        assert abs(url.expires_at - datetime.now(UTC) - timedelta(days=7)) < timedelta(seconds=5)
        with pytest.raises(InvalidValue, match="at least a second"):
            objects.download_url("a", expires=timedelta(0))

    def test_an_expired_url_is_refused(self, objects: ObjectStore) -> None:
        objects.put("a", WAV)
        url = objects.download_url("a", expires=timedelta(seconds=1))
        assert soon(lambda: send(url).status, 403)

    def test_an_altered_url_is_refused(self, objects: ObjectStore) -> None:
        objects.put("a", WAV)
        objects.put("b", WAV)
        url = objects.download_url("a", filename="name.wav").url
        path, _, query = url.partition("?")
        assert send(url).status == 200
        altered = {
            "its signature": f"{path}?{query[:-1]}{'0' if query[-1] != '0' else '1'}",
            "its key": f"{path[:-1]}b?{query}",
            "the name": url.replace("name.wav", "other.wav"),
            "its end": _with_later_end(url),
        }
        for what, other in altered.items():
            assert other != url, what
            assert send(other).status == 403, what

    @pytest.mark.parametrize("method", ["PUT", "DELETE", "POST"])
    def test_nothing_but_getting_is_allowed(self, objects: ObjectStore, method: str) -> None:
        objects.put("a", WAV)
        assert send(objects.download_url("a"), method, body=b"other").status in (403, 405)
        assert objects.get("a").read() == WAV

    def test_an_object_that_is_not_there_is_not_found(self, objects: ObjectStore) -> None:
        assert send(objects.download_url("a")).status == 404

    def test_a_file_is_saved_under_its_name_in_any_script(self, objects: ObjectStore) -> None:
        objects.put("a", WAV)
        said = send(objects.download_url("a", filename="Übung 1.wav")).headers["content-disposition"]
        assert said == "attachment; filename=\"_bung 1.wav\"; filename*=UTF-8''%C3%9Cbung%201.wav"
        assert send(objects.download_url("a")).headers["content-disposition"] == "attachment"

    def test_a_name_cannot_say_more_than_a_name(self, objects: ObjectStore) -> None:
        objects.put("a", WAV)
        said = send(objects.download_url("a", filename='../x"; evil=1\r\nSet-Cookie: a=b')).headers
        assert said["content-disposition"].startswith('attachment; filename="x_; evil=1Set-Cookie: a=b"')
        assert "set-cookie" not in said

    def test_a_name_may_be_too_long_to_be_kept_whole(self, objects: ObjectStore) -> None:
        objects.put("a", WAV)
        answer = send(objects.download_url("a", filename="x" * 1500))
        assert answer.status == 200
        assert answer.headers["content-disposition"].startswith('attachment; filename="xxx')

    def test_a_picture_may_be_shown_in_place(self, objects: ObjectStore) -> None:
        objects.put("a", PNG)
        said = send(objects.download_url("a", show_as="image/png", filename="a.png")).headers
        assert (said["content-type"], said["content-disposition"]) == ("image/png", 'inline; filename="a.png"')

    def test_what_could_run_in_a_browser_is_never_shown_in_place(self, objects: ObjectStore) -> None:
        objects.put("page", HTML)
        assert send(objects.download_url("page")).headers["content-disposition"] == "attachment"
        for content_type in ("text/html", "image/svg+xml", "application/xml", "application/pdf", "text/plain"):
            with pytest.raises(InvalidValue, match="only saved"):
                objects.download_url("page", show_as=content_type)
        shown = send(objects.download_url("page", show_as="image/png")).headers
        assert shown["content-type"] == "image/png", "whatever the bytes are, it is no page"

    def test_a_signed_url_is_not_shown_by_accident(self, objects: ObjectStore) -> None:
        url = objects.download_url("a")
        assert url.url not in repr(url)
        assert "ignature" not in repr(url)


def _with_later_end(url: str) -> str:
    """The URL with a later end, whichever way it says it."""
    for name in ("X-Amz-Expires=", "expires="):
        before, found, after = url.partition(name)
        if found:
            digits, ampersand, rest = after.partition("&")
            return f"{before}{name}{int(digits) + 60}{ampersand}{rest}"
    raise AssertionError("the URL does not say when it ends")
