"""The console on other engines, with files in a bucket on another origin: one story of all that depends on it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from penstock.domains import videos
from penstock.files.uploads import Uploads
from penstock.objects.s3 import S3Connection, S3Objects
from penstock.runtime.bucket_advice import bucket_advice
from penstock.schema.role import Role
from tests.homes import dynamo_client, table_names
from tests.servers import DynamoDBLocal, had
from tests.servers.seaweedfs import ACCESS_KEY, SECRET_KEY
from tests.web.films import INSTALLED as FILMS

from . import studio
from .console import build_once
from .door import FrontDoor, opened
from .elsewhere import film_from_elsewhere
from .films import numbered_film
from .playing import played
from .studio import STUDIO, Take, TakeStatus

if TYPE_CHECKING:
    from playwright.sync_api import Page

LIVE = re.compile("^Live:")
PART = 5 * 1024 * 1024
"The smallest part that S3 takes before the last."


@pytest.fixture(params=["postgres", pytest.param("dynamodb-local", marks=pytest.mark.long)])
def store(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where the records lie, empty."""
    if request.param == "postgres":
        yield request.getfixturevalue("postgres_server").create_database("console")
        return
    server: DynamoDBLocal = request.getfixturevalue("dynamodb_local_server")
    before = set(table_names(server.url, ""))
    yield f"dynamodb://us-east-1?endpoint={server.url}"
    for name in set(table_names(server.url, "")) - before:
        dynamo_client(server.url).delete_table(TableName=name)


@pytest.fixture
def grown(
    store: str, s3: S3Objects, s3_connection: S3Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FrontDoor]:
    """A system whose records are on a server and whose files in a bucket, with the rule that is advised for it."""
    for name, value in {"at_once": 1_000, "part_size": PART}.items():
        monkeypatch.setitem(Uploads.__init__.__kwdefaults__, name, value)  # type: ignore[arg-type]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    had(build_once)
    client, bucket = s3_connection.client, s3_connection.bucket
    objects = f"s3://{bucket}/{tmp_path.name}?region=us-east-1&endpoint={client.meta.endpoint_url}"
    with opened(tmp_path, videos.PLUGIN, FILMS, STUDIO, store=store, objects=objects) as door:
        (advice,) = bucket_advice(door.system.settings)
        rule = json.loads(advice.detail.splitlines()[-1])
        client.put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": [rule]})
        try:
            yield door
        finally:
            client.delete_bucket_cors(Bucket=bucket)


def large_film(folder: Path) -> Path:
    """A short film in more bytes than one part has: behind it lies what players pass over."""
    film = numbered_film(folder / "winter_walk.mp4", seconds=2)
    with film.open("ab") as end:
        end.write((PART + 8).to_bytes(4) + b"free" + bytes(PART))
    return film


def test_all_of_it_works_with_records_on_a_server_and_files_in_a_bucket(
    page: Page, grown: FrontDoor, store: str, s3_connection: S3Connection, tmp_path: Path
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    answer = page.goto(f"{grown.url}/console/d/films/films?pattern=by_status")
    assert answer is not None
    bucket = s3_connection.client.meta.endpoint_url
    policy = answer.headers["content-security-policy"]
    assert [part.split()[0] for part in policy.split("; ") if bucket in part] == ["img-src", "media-src", "connect-src"]
    page.get_by_label("API key").fill(grown.key(Role.EDITOR))
    page.keyboard.press("Enter")

    expect(page.get_by_text("Nothing fits")).to_be_visible()
    expect(page.get_by_role("button", name=LIVE)).to_be_visible()
    made_moved_and_seen_live(page, store)
    decided(page, grown)
    sent_and_watched(page, grown, large_film(tmp_path))
    sent = [line for line in asked if line.startswith("PUT")]
    assert len(sent) == 2
    assert all(line.startswith(f"PUT {bucket}/") for line in sent), "in two parts, past the service"
    hosts = {re.sub(r"(//[^/]+).*", r"\1", line.split(" ", 1)[1]) for line in asked if "blob:" not in line}
    assert hosts - {"data:"} <= {grown.url, bucket}


def made_moved_and_seen_live(page: Page, store: str) -> None:
    """A record is made by a form, found by filters and moved; another process's is seen at once."""
    rows = page.get_by_role("region", name="Films", exact=True).get_by_role("link")
    page.get_by_role("button", name=re.compile("^New")).click()
    dialog = page.get_by_role("dialog", name="New in Films")
    dialog.get_by_label("Project").fill("p1")
    dialog.get_by_label("Title").fill("Near")
    dialog.get_by_label("Created at").fill("2037-01-01T10:00")
    dialog.get_by_role("button", name="Create").click()
    heading = page.get_by_role("heading", name="Near")
    expect(heading).to_contain_text("draft")
    page.get_by_role("navigation", name="Where we are").get_by_role("link", name="Films").last.click()
    page.get_by_role("link", name="By status").click()
    expect(rows).to_have_text(["Near"])
    film_from_elsewhere(store, "From afar")
    expect(rows).to_have_text(["From afar", "Near"])
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("combobox", name="Field").select_option("title")
    page.get_by_role("combobox", name="Compared").select_option("!=")
    page.get_by_role("textbox", name="With", exact=True).fill("From afar")
    page.keyboard.press("Enter")
    expect(rows).to_have_text(["Near"])
    rows.click()
    page.get_by_role("button", name="Shoot").click()
    expect(heading).to_contain_text("filmed")
    page.go_back()
    expect(page.get_by_text("Nothing fits")).to_be_visible()


def decided(page: Page, grown: FrontDoor) -> None:
    """Two takes come in while somebody looks: one is rejected and one approved, and what is seen is the bucket's."""
    context = grown.system.context
    page.goto(f"{grown.url}/console/review")
    expect(page.get_by_role("link", name="Near")).to_be_visible()
    expect(page.get_by_role("button", name=LIVE)).to_be_visible()
    context.objects.put("takes/still.png", studio.still())
    for second, title in enumerate(("Arrival", "Bridge")):
        made_at = datetime(2037, 1, 1, second=second, tzinfo=UTC)
        context.store.create(Take(project_id="p1", title=title, take=1, created_at=made_at, still="takes/still.png"))
    page.get_by_role("link", name="Arrival, take 1").click()
    expect(page.get_by_text("960 × 540")).to_be_visible()
    picture = page.get_by_role("img", name="still")
    assert picture.evaluate("(shown) => shown.decode().then(() => shown.naturalWidth)") == 960
    page.get_by_role("button", name="Reject").click()
    dialog = page.get_by_role("dialog", name="Reject")
    dialog.get_by_label("Why").fill("The arm is too dark.")
    dialog.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("heading", name="Bridge, take 1")).to_be_visible()
    page.keyboard.press("a")
    expect(page).to_have_url(f"{grown.url}/console/review")
    found = [context.store.get(Take.at(project_id="p1", title=title, take=1)) for title in ("Arrival", "Bridge")]
    assert [each.status for each in found] == [TakeStatus.REJECTED, TakeStatus.APPROVED]


def sent_and_watched(page: Page, grown: FrontDoor, film: Path) -> None:
    """A film goes to the bucket in parts, is encoded, and is played from there."""
    page.goto(f"{grown.url}/")
    page.get_by_role("navigation", name="Console").get_by_role("link", name="Upload and watch").click()
    page.get_by_label("A film to send").set_input_files(film)
    page.get_by_role("button", name="Send it").click()
    page.get_by_role("list", name="Videos").get_by_role("link", name="winter walk").click()
    watched = page.get_by_role("region", name="The film")
    assert played(watched.locator("video")) == pytest.approx(2, abs=0.2)
    expect(watched).to_contain_text("1 view ")
