"""What callers are told of errors: short, whatever they send, and nothing of how the service is made inside."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock.domains import INSTALLED
from penstock.errors import (
    DamagedRecord,
    Misconfigured,
    PenstockError,
    Throttled,
    Unavailable,
    telling,
    told,
)
from penstock.media.errors import FfmpegFailed
from penstock.runtime.logs import JsonLines, TextLines
from penstock.schema.role import Role
from penstock.web.problems import cut, invalid_request
from penstock.web.reference import all_errors
from tests.web.films import INSTALLED as FILMS
from tests.web.routes import Door, doors
from tests.web.service import Service, film

LARGE = 1_000_000
IN_A_URL = 50_000
"More no client of these tests sends, nor does a server take."
MOST = 8 * 1024
DSN = "postgresql://ann:hunter2@db.internal:5432/films"


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return Service(tmp_path_factory.mktemp("told"), installed=(*INSTALLED, FILMS))


def wrong_requests(door: Door) -> Iterator[dict[str, Any]]:
    """Requests that cannot be right, each large in another place."""
    asked = door.request("p1")
    long, path = "x" * LARGE, "x" * IN_A_URL
    if "{" in door.path:
        yield {**asked, "url": door.path.replace("{", path + "{", 1).format_map(_Any())}
        yield {**asked, "url": door.path.format_map(_Any(path[: IN_A_URL // (door.path.count("{") + 2)]))}
    for name in asked["params"]:
        yield {**asked, "params": {**asked["params"], name: path}}
    third = path[: IN_A_URL // 3]
    yield {**asked, "params": {**asked["params"], third: "1", "cursor": third, "limit": third}}
    yield {**asked, "headers": {"If-Match": long, "Idempotency-Key": long, "X-Request-ID": long, "Range": long}}
    if "json" in asked:
        body = asked["json"] if isinstance(asked["json"], dict) else {}
        large: list[Any] = [long, {**body, long: 1}, dict.fromkeys(body, long) or {"a": long}, [{}] * 10_000]
        large.append({**body, **{f"extra-{n}": [n] for n in range(5_000)}})
        yield from ({**asked, "json": sent} for sent in large)
        yield {**{k: v for k, v in asked.items() if k != "json"}, "content": b"{" * LARGE, "headers": JSON}
        yield {
            **{k: v for k, v in asked.items() if k != "json"},
            "content": b'"' + b"\\ud800" * 100_000,
            "headers": JSON,
        }


JSON = {"Content-Type": "application/json"}


class _Any(dict[str, str]):
    def __init__(self, value: str = "p1") -> None:
        super().__init__()
        self._value = value

    def __missing__(self, name: str) -> str:
        return self._value


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])
def test_no_refusal_grows_with_the_request_nor_tells_where_the_service_lives(
    everything: Service, caplog: pytest.LogCaptureFixture, every: int
) -> None:
    caplog.set_level(logging.INFO)
    folder = str(everything.objects.folder.parent)
    refused = 0
    with closing(everything.client(Role.ADMIN)) as admin:
        for door in [*doors(everything.app)][::every]:
            if door.is_stream or door.path.endswith("/crash"):
                continue
            for wrong in wrong_requests(door):
                answer = admin.request(**wrong)
                if answer.status_code < 400:
                    continue
                refused += 1
                assert answer.status_code != 500, (str(door), answer.text[:300])
                assert len(answer.content) < MOST, (str(door), answer.text[:300])
                assert "Traceback" not in answer.text
                assert folder not in answer.text
                assert "xxxxx" * 100 not in answer.text
    assert refused > 1200 / every
    forms = (TextLines(), JsonLines())
    assert max(len(form.format(record)) for record in caplog.records for form in forms) < 4 * MOST


@pytest.mark.parametrize(
    "error",
    [
        Unavailable(f"cannot reach PostgreSQL: connection to {DSN} failed"),
        Throttled(f"DynamoDB: {DSN}"),
        Misconfigured(f"PostgreSQL refuses {DSN}"),
        DamagedRecord(f"a record at {DSN}"),
        FfmpegFailed(f"ffmpeg gave up: /srv/penstock/{DSN}"),
        PenstockError(DSN),
        telling(Unavailable(f"service.example answered 500: {DSN}"), "service.example answered 500"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_failure_inside_is_told_by_its_kind_and_found_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: PenstockError
) -> None:
    service = Service(tmp_path)
    client = service.client(Role.EDITOR)

    def away(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(service.store.engine, "commit", away)
    answer = client.post("/api/films/films", json=film())
    body = answer.json()
    assert (answer.status_code, body["type"]) == (error.http_status, error.slug)
    for secret in ("hunter2", "db.internal", "ann", "5432", "/srv"):
        assert secret not in answer.text
    found = [r for r in caplog.records if getattr(r, "request_id", None) == body["request_id"]]
    assert any("hunter2" in r.getMessage() for r in found), "whoever runs the service finds it"


def test_a_store_that_is_away_is_told_without_its_address(tmp_path: Path) -> None:
    service = Service(tmp_path)
    client = service.client(Role.VIEWER)
    service.store.close()
    (tmp_path / "web.db").rename(tmp_path / "elsewhere.db")
    (tmp_path / "web.db").mkdir()
    answer = client.get("/api/films/films?pattern=by_status&status=draft")
    assert (answer.status_code, answer.json()["type"]) == (503, "unavailable")
    assert str(tmp_path) not in answer.text
    assert "web.db" not in answer.text
    assert answer.headers["retry-after"]


def test_every_kind_of_failure_inside_keeps_its_message_unless_it_says_otherwise() -> None:
    speaking = {kind.slug for kind in all_errors() if kind.http_status >= 500 and kind.tells}
    assert speaking <= {
        "busy",
        "decoding-busy",
        "not-ready",
        "too-many-streams",
        "http-error",
        "unexpected",
        "unanswered",
        "answer-too-long",
        "index-incomplete",
    } | {"not-made", "asset-not-made"}, "its messages name no folder, no host of ours and no word of a driver"


def test_others_are_told_of_any_error_without_names_of_files() -> None:
    assert (
        told(FileNotFoundError(2, "No such file or directory", "/srv/penstock/secret")) == "No such file or directory"
    )
    assert "/srv" not in told(PermissionError("/srv/penstock"))
    assert told(ValueError("no luck")) == "no luck"


def test_what_does_not_fit_is_told_in_bounds() -> None:
    errors = [{"loc": ("body", "k" * LARGE, n), "msg": "m" * LARGE} for n in range(1000)]
    assert len(str(invalid_request(errors))) < 5 * 1024
    assert cut("short") == "short"
    assert cut("a" * 300 + "b" * 300) == "a" * 200 + " … " + "b" * 200


@pytest.mark.parametrize("form", [JsonLines(), TextLines()], ids=["json", "text"])
def test_no_line_of_the_log_grows_with_what_somebody_sent(form: logging.Formatter) -> None:
    long = "x" * LARGE
    try:
        try:
            raise ValueError(long)
        except ValueError as cause:
            raise RuntimeError("\n".join([long[:3000]] * 3000)) from cause
    except RuntimeError:
        info = sys.exc_info()
    record = logging.LogRecord("penstock", logging.ERROR, __file__, 1, "it failed: %s", (long,), info)
    record.path, record.many = long, [long] * 3
    line = form.format(record)
    assert len(line) < 30_000
    assert "it failed: x" in line
    assert "ValueError" in line
    assert "RuntimeError" in line


def test_a_text_line_is_one_line() -> None:
    record = logging.LogRecord("p", logging.INFO, "", 1, "a\nb\r\nforged", (), None)
    assert all(line.startswith("    ") for line in TextLines().format(record).splitlines()[1:])


# Readiness

PROBE = """
import json, resource, sys
from pathlib import Path
from tests.web.service import Service

service = Service(Path(sys.argv[1]))
client = service.client()
told = [client.get("/readyz").status_code]
if sys.argv[2] == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # from now on no file grows: what a full disk does
elif sys.argv[2] == "read-only files":
    Path(sys.argv[1], "objects").rename(Path(sys.argv[1], "gone"))
    Path(sys.argv[1], "objects").write_text("in the way")
import penstock.web.health
penstock.web.health._FRESH = 0.0
import time; time.sleep(1.1)
answer = client.get("/readyz")
told += [answer.status_code, answer.json().get("detail"), client.get("/healthz").status_code]
print(json.dumps(told))
"""


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("full", [200, 503, "store and objects cannot be reached or written to", 200]),
        ("read-only files", [200, 503, "objects cannot be reached or written to", 200]),
        ("nothing", [200, 200, None, 200]),
    ],
)
def test_a_process_that_can_write_nothing_is_not_ready(tmp_path: Path, what: str, expected: list[Any]) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROBE, str(tmp_path), what], capture_output=True, text=True, timeout=120
    )
    assert json.loads(ran.stdout.splitlines()[-1]) == expected, ran.stderr[-2000:]


def test_a_disk_with_little_room_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(tmp_path)
    monkeypatch.setattr(type(service.objects), "room", lambda _: 10)
    refused = service.client().get("/readyz")
    assert refused.status_code == 503
    assert refused.json()["detail"] == "objects cannot be reached or written to"
    assert [file for file in service.objects.folder.rglob("*") if file.is_file()] == [], "the probe leaves nothing"


def test_probing_costs_one_look_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(tmp_path)
    looks: list[None] = []
    probe = type(service.objects).probe

    def counted(self: Any) -> None:
        looks.append(None)
        probe(self)

    monkeypatch.setattr(type(service.objects), "probe", counted)
    with service.client() as client:
        for _ in range(50):
            client.get("/readyz")
    assert 1 <= len(looks) <= 20
