"""The route of signed URLs, and who has how much of it for how long: a place while something passes, and no longer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import pytest
from starlette.applications import Starlette

from penstock import FrozenClock
from penstock.files.object_reads import every
from penstock.net import pace
from penstock.net.pool import Pool
from penstock.net.traffic import Traffic
from penstock.objects import LocalObjects
from penstock.objects.objects_route import objects_route
from penstock.ports.clock import Clock
from penstock.testing.object_promises.promise import WAV

Receive = Callable[[], Awaitable[dict[str, Any]]]


@pytest.fixture
def served(open_local: Callable[[Clock | None], LocalObjects], clock: FrozenClock) -> LocalObjects:
    return open_local(clock)


@pytest.fixture
def narrow() -> Traffic:
    """One upload and one download at a time, and nobody waits for a place."""
    traffic = Traffic()
    traffic.uploads, traffic.downloads = Pool("uploads", 1, queue=0), Pool("downloads", 1, queue=0)
    return traffic


class Exchange:
    """One request to the route, and what has come back."""

    def __init__(self, app: Starlette, url: str, method: str, *, size: int = 0) -> None:
        self._app, self._parts, self._method, self._size = app, urlsplit(url), method, size
        self.status = 0
        self.begun = anyio.Event()
        self.may_end = anyio.Event()

    async def receive(self) -> dict[str, Any]:
        """The whole body, as soon as it may come; of a download there is none, and nobody leaves."""
        if self._method == "GET":
            await anyio.sleep_forever()
        self.begun.set()
        await self.may_end.wait()
        return {"type": "http.request", "body": bytes(self._size), "more_body": False}

    async def _send(self, message: dict[str, Any]) -> None:
        self.status = message.get("status", self.status)
        if self._method == "GET" and message["type"] == "http.response.body" and self.status == 200:
            self.begun.set()
            await self.may_end.wait()

    async def run(self, receive: Receive | None = None) -> None:
        scope = {
            "type": "http",
            "method": self._method,
            "path": f"/{self._parts.path.rpartition('/')[2]}",
            "query_string": self._parts.query.encode(),
            "headers": [(b"content-type", b"audio/wav"), (b"content-length", str(self._size).encode())],
        }
        try:
            await self._app(scope, receive or self.receive, self._send)  # type: ignore[arg-type]
        finally:
            self.begun.set()


async def _while_one_is_under_way(first: Exchange, *others: Exchange) -> list[int]:
    """What becomes of others meanwhile."""
    for other in others:
        other.may_end.set()
    async with anyio.create_task_group() as group:
        group.start_soon(first.run)
        await first.begun.wait()
        assert first.status in (0, 200), "it is under way"
        for other in others:
            await other.run()
        first.may_end.set()
    return [other.status for other in others]


def test_a_download_has_its_place_until_all_of_it_is_sent(served: LocalObjects, narrow: Traffic) -> None:
    served.put("a", WAV)
    url = served.download_url("a").url
    app = objects_route(served, traffic=narrow)

    async def tried() -> None:
        first, second, third = (Exchange(app, url, "GET") for _ in range(3))
        assert await _while_one_is_under_way(first, second) == [503]
        third.may_end.set()
        await third.run()
        assert (first.status, third.status) == (200, 200)

    anyio.run(tried)


def test_an_upload_has_its_place_until_all_of_it_has_come(served: LocalObjects, narrow: Traffic) -> None:
    app = objects_route(served, traffic=narrow)

    async def tried() -> None:
        first, second, third = (
            Exchange(app, served.upload_url(key, size=5, content_type="audio/wav").url, "PUT", size=5) for key in "abc"
        )
        assert await _while_one_is_under_way(first, second) == [503]
        third.may_end.set()
        await third.run()
        assert (first.status, third.status) == (200, 200)

    anyio.run(tried)
    assert [found.key for found in every(served)] == ["a", "c"]


def test_whoever_has_one_url_has_few_places(served: LocalObjects) -> None:
    traffic = Traffic()
    traffic.of_one_url = Pool("uploads to this URL", 9, queue=0, share=1)
    app = objects_route(served, traffic=traffic)

    async def tried() -> list[int]:
        urls = [served.upload_url(key, size=5, content_type="audio/wav").url for key in "ab"]
        return await _while_one_is_under_way(
            *(Exchange(app, url, "PUT", size=5) for url in (urls[0], urls[0], urls[1]))
        )

    assert anyio.run(tried) == [503, 200]


def test_a_file_that_breaks_off_is_given_up_also_by_one_who_is_sent_away(
    served: LocalObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits until garbage is collected, or nobody knows when the disk has room again."""
    ended: list[str | None] = []
    receiving = served.receiving

    class Told:
        def __init__(self, key: str) -> None:
            self._arriving = receiving(key)

        def __enter__(self) -> Any:
            return self._arriving.__enter__()

        def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
            ended.append(None if kind is None else kind.__name__)
            return self._arriving.__exit__(kind, error, traceback)

    monkeypatch.setattr(served, "receiving", Told)
    app = objects_route(served)
    url = served.upload_url("a", size=5, content_type="audio/wav").url

    async def gone() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def tried() -> None:
        leaving = Exchange(app, url, "PUT", size=5)
        await leaving.run(gone)
        assert leaving.status == 400
        async with anyio.create_task_group() as group:
            sent_away = Exchange(app, url, "PUT", size=5)
            group.start_soon(sent_away.run)
            await sent_away.begun.wait()
            group.cancel_scope.cancel()

    anyio.run(tried)
    assert ended == ["ClientDisconnect", "CancelledError"]
    assert list((served.folder / "unfinished").glob("*")) == []


def test_a_body_that_comes_slowly_and_steadily_is_taken(served: LocalObjects, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece buys as much time as the slowest network needs for it."""
    passed = [0.0]
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: passed[0]))
    url, left = served.upload_url("a", size=200_000, content_type="audio/wav").url, [40_000] * 5

    async def receive() -> dict[str, Any]:
        passed[0] += 9.0
        await anyio.lowlevel.checkpoint()  # where one is told that it took too long
        return {"type": "http.request", "body": bytes(left.pop()), "more_body": bool(left)}

    async def tried() -> int:
        steady = Exchange(objects_route(served), url, "PUT", size=200_000)
        await steady.run(receive)
        return steady.status

    assert anyio.run(tried) == 200
