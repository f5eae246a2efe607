"""What is left of uploads goes when its time has come, and not a moment before."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest

from penstock.errors import NotFound
from penstock.files import uploads as module
from penstock.files.upload import Upload, UploadStatus
from penstock.files.uploads import Uploads
from penstock.kernel.audit import SystemAudit
from penstock.ports.ids import sortable_id
from tests.objects.faults import Fate, Mortal
from tests.objects.world import CLIP, DIGEST, MP4, PROJECT, World, keys

DAY, MOMENT = timedelta(days=1), timedelta(microseconds=1)


def stray(world: World) -> str:
    """Bytes that came for an upload which nobody knows any more."""
    key = f"uploads/{sortable_id(world.clock.now())}"
    world.objects.put(key, MP4)
    return key


def arrived(world: World) -> Upload:
    """A file that is there, and waits until somebody has looked at it."""
    upload = world.reserve()
    world.deliver(upload)
    with world.store.change() as change:
        world.uploads.arrive(change, upload, sha256=DIGEST)
    return upload


def test_bytes_without_an_upload_stay_for_a_whole_day(here: World) -> None:
    """A URL may last until then for whoever sends them."""
    here.clock.set(here.objects.head(stray(here)).modified_at + DAY)
    assert (here.uploads.sweep().strays, len(keys(here))) == (0, 1)
    here.clock.advance(MOMENT)
    assert (here.uploads.sweep().strays, keys(here)) == (1, [])


def test_bytes_of_an_upload_that_is_not_settled_stay_however_old_they_are(here: World) -> None:
    long = here.reserve(Uploads(here.store, here.objects, life=7 * DAY))
    here.deliver(long)
    looked_at = arrived(here)
    here.clock.advance(6 * DAY)
    swept = here.uploads.sweep()
    assert (swept.abandoned, swept.strays) == (0, 0)
    assert keys(here) == sorted([long.staging, looked_at.staging])


def test_what_has_arrived_is_waited_for_much_longer_than_what_has_not(here: World) -> None:
    """Whoever is to look at it may be away for weeks, but not for ever."""
    upload = arrived(here)
    here.clock.set(upload.expires_at + 30 * DAY - timedelta(seconds=1))
    assert here.uploads.sweep().abandoned == 0
    here.clock.advance(timedelta(seconds=1))
    assert here.uploads.sweep().abandoned == 1
    assert (here.store.get(upload.ref).status, keys(here)) == (UploadStatus.ABANDONED, [])


def test_who_gave_an_upload_up_is_in_the_audit_trail(here: World) -> None:
    given_up, _ = here.reserve(), here.reserve()
    here.uploads.abandon(given_up, by="editor")
    here.clock.advance(DAY)
    here.uploads.sweep()
    lines = here.store.find(SystemAudit.of_project(project_id=str(PROJECT)))
    assert [line.actor for line in lines] == ["editor", "sweep"]


def test_an_upload_that_is_finished_while_it_is_swept_keeps_its_file(here: World) -> None:
    """Its time was over when the sweep read it; who finished it had begun before. The others are swept all the same."""
    late, other = here.reserve(), here.reserve()
    here.deliver(late)
    real = here.objects

    class Meanwhile(Mortal):
        def delete(self, some: Iterable[str]) -> None:
            gone = list(some)
            if gone == [late.staging] and here.store.get(late.ref).status is UploadStatus.OPEN:
                here.clock.advance(-2 * DAY)
                here.finalize(late, Uploads(here.store, real))
                here.clock.advance(2 * DAY)
            real.delete(gone)

    here.clock.advance(2 * DAY)
    assert Uploads(here.store, Meanwhile(real, Fate())).sweep().abandoned == 1
    assert here.store.get(late.ref).status is UploadStatus.DONE
    assert here.store.get(other.ref).status is UploadStatus.ABANDONED
    assert (here.points_at(), keys(here)) == (CLIP, [CLIP])


def test_bytes_whose_upload_cannot_be_read_stay_and_the_log_tells_of_it(
    here: World, caplog: pytest.LogCaptureFixture
) -> None:
    """Whose they are nobody can tell; the others go."""
    upload = here.reserve()
    here.deliver(upload)
    stray(here)
    connector: Any = here.store.engine.connector  # type: ignore[attr-defined]
    connector.run(f"update {_relation()} set status = 'nonsense'", ())
    here.clock.advance(2 * DAY)
    assert here.uploads.sweep().strays == 1
    assert keys(here) == [upload.staging]
    assert [upload.upload_id in said for said in caplog.messages if "passed over" in said] == [True]


def test_an_upload_that_cannot_be_read_stops_no_reconciling_and_is_told_of(here: World) -> None:
    upload = here.reserve()
    here.objects.put(CLIP, MP4)
    connector: Any = here.store.engine.connector  # type: ignore[attr-defined]
    connector.run(f"update {_relation()} set created_at = 'nonsense'", ())
    here.clock.advance(2 * DAY)
    report = here.reconciliation.plan()
    assert report.unreadable == [repr(upload.ref)]
    assert (report.orphans, report.undecided) == ([], 1), "which file is its own nobody can tell"


def _relation() -> str:
    return f"{Upload.__shape__.domain}_{Upload.__shape__.relation}"


def test_strays_are_looked_up_some_at_a_time_until_none_is_left(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOOKED_UP", 2)
    kept = arrived(here)
    for _ in range(5):
        stray(here)
    here.clock.advance(2 * DAY)
    assert here.uploads.sweep().strays == 5
    assert keys(here) == [kept.staging]


def test_a_stray_that_is_replaced_while_it_is_swept_is_not_counted_as_gone(here: World) -> None:
    key, real = stray(here), here.objects

    class Meanwhile(Mortal):
        def delete_unchanged(self, found: Any) -> bool:
            real.put(found.key, b"sent just now")
            return real.delete_unchanged(found)

    here.clock.advance(2 * DAY)
    assert Uploads(here.store, Meanwhile(real, Fate())).sweep().strays == 0
    assert keys(here) == [key]


def test_parts_that_no_upload_knows_go_once_no_url_can_lead_to_them(here: World) -> None:
    """Whoever reserved them died before the record was written; a URL lasts for seven days at most."""
    upload = here.objects.begin_parts("uploads/x", content_type="video/mp4")
    here.clock.advance(8 * DAY - timedelta(hours=1))
    here.uploads.sweep()
    assert here.objects.parts("uploads/x", upload) == []
    here.clock.advance(timedelta(hours=2))
    here.uploads.sweep()
    with pytest.raises(NotFound):
        here.objects.parts("uploads/x", upload)
