"""Uploads: reserved, sent, verified, and only then does a record point at them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.errors import Conflict, ForeignFile, InvalidKey, InvalidValue, NotFound, TooLarge, Unavailable
from penstock.files.object_reads import every
from penstock.files.upload import Upload, UploadStatus
from penstock.files.uploads import UploadRefused, Uploads
from penstock.kernel.audit import SystemAudit
from penstock.kernel.lease import NamedLease
from penstock.objects import LocalObjects
from penstock.objects import local_parts as parts_folder
from penstock.objects.file import remove
from penstock.ports.clock import Clock
from penstock.ports.ids import sortable_id
from penstock.testing.object_promises.promise import HTML, MEGABYTE, PNG, send
from tests.objects.faults import OBJECT_STEPS, STORE_STEPS, Death, Fate, Mortal
from tests.objects.world import CLIP, DIGEST, FOLDER, MP4, OTHER_MP4, World, keys

# The way of a file


@pytest.mark.parametrize("parts", [False, True])
def test_a_file_arrives_and_the_record_points_at_it(world: World, parts: bool) -> None:
    uploads = world.in_parts if parts else world.uploads
    upload = world.reserve(uploads, sha256=DIGEST)
    assert (upload.parts_id is not None) is parts
    assert world.points_at() is None
    world.deliver(upload)
    assert keys(world) == ([] if parts else [upload.staging]), "it waits apart"
    with uploads.finalize(upload.upload_id, by="editor") as arrived:
        assert (arrived.key, arrived.size, arrived.sha256) == (CLIP, len(MP4), DIGEST)
        assert arrived.content_type == "video/mp4"
        scene = arrived.change.get(world.scene.ref)
        arrived.change.save(scene.finish(video_clip_s3_key=arrived.key))
    assert world.points_at() == CLIP
    assert keys(world) == [CLIP]
    assert world.objects.get(CLIP).read() == MP4
    assert world.objects.head(CLIP).content_type == "video/mp4"
    closed = world.store.get(upload.ref)
    assert (closed.status, closed.sha256) == (UploadStatus.DONE, DIGEST)
    with pytest.raises(UploadRefused, match="was taken already"):
        world.finalize(upload)


def test_what_an_inspection_refuses_replaces_nothing(world: World) -> None:
    """It sees the bytes where they wait; only then do they take the place of others."""
    world.objects.put(CLIP, OTHER_MP4)
    upload = world.reserve(world.uploads, sha256=DIGEST)
    world.deliver(upload)
    seen = []

    def refuse(key: str) -> None:
        seen.append(world.objects.get(key).read())
        raise InvalidValue("no film of ours")

    with (
        pytest.raises(InvalidValue, match="no film of ours"),
        world.uploads.finalize(upload.upload_id, replace=True, inspect=refuse),
    ):
        pytest.fail("it was refused")
    assert seen == [MP4]
    assert world.objects.get(CLIP).read() == OTHER_MP4
    assert world.store.get(upload.ref).status is UploadStatus.OPEN


def test_a_broken_upload_goes_on_where_it_stopped(world: World) -> None:
    content = MP4 + bytes(11 * MEGABYTE)
    upload = world.reserve(world.in_parts, size=len(content))
    wanted = world.in_parts.part_urls(upload)
    assert [(part.number, part.start, part.stop) for part in wanted] == [
        (1, 0, 5 * MEGABYTE),
        (2, 5 * MEGABYTE, 10 * MEGABYTE),
        (3, 10 * MEGABYTE, len(content)),
    ]
    for part in (wanted[2], wanted[0]):
        assert send(part.url, body=content[part.start : part.stop]).status == 200
    with pytest.raises(UploadRefused, match="2 of 3 parts"):
        world.finalize(upload, world.in_parts, sha256=sha256(content).hexdigest())
    left = world.in_parts.part_urls(upload)
    assert [part.number for part in left] == [2]
    assert send(left[0].url, body=content[left[0].start : left[0].stop]).status == 200
    assert world.in_parts.part_urls(upload) == []
    world.finalize(upload, world.in_parts, sha256=sha256(content).hexdigest())
    assert world.objects.head(CLIP).size == len(content)


def test_only_some_part_urls_are_signed_at_a_time(here: World) -> None:
    upload = here.reserve(here.in_parts, size=5 * MEGABYTE * 9_000)
    assert [part.number for part in here.in_parts.part_urls(upload, limit=3)] == [1, 2, 3]
    huge = here.reserve(here.in_parts, size=4 * 1024**4)
    assert huge.part_size is not None
    assert -(-huge.size // huge.part_size) <= 10_000, "never more parts than there may be"


def test_the_url_is_for_what_was_announced(world: World) -> None:
    upload = world.reserve()
    url = world.uploads.url(upload)
    assert send(url, body=MP4 + b"!").status in (403, 411)
    assert send(url, body=MP4, headers={"Content-Type": "text/html"}).status == 403
    assert keys(world) == []


# What is refused


def test_another_project_s_place_cannot_be_reserved(here: World) -> None:
    """F-MV-6: before a byte has come."""
    for target in ("mv/projects/11111111-2222-4333-8444-555555555555/scenes/scene_001.mp4", "any/where.mp4"):
        with pytest.raises(ForeignFile):
            here.reserve(target=target)
    with pytest.raises(InvalidKey):
        here.reserve(target="../x")


@pytest.mark.parametrize(
    ("announced", "error"),
    [
        ({"size": -1}, InvalidValue),
        ({"size": 6 * 1024**4}, TooLarge),
        ({"sha256": "abc"}, InvalidValue),
        ({"sha256": "x" * 64}, InvalidValue),
        *(
            ({"content_type": wrong}, InvalidValue)
            for wrong in (
                "",
                "bogus",
                "é",
                "vidéo/mp4",
                "bogus\r\nX: y",
                "video/mp4\r\nX: y",
                "video/mp4; a=b\nc",
                "*/*",
            )
        ),
        ({"content_type": "video/" + "x" * 300}, InvalidValue),
        ({"content_type": "video/mp4; a"}, InvalidValue),
    ],
)
def test_what_cannot_be_is_not_reserved(here: World, announced: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        here.reserve(**announced)
    assert list(here.store.find(Upload.by_status(status=UploadStatus.OPEN))) == []


@pytest.mark.parametrize(
    ("content", "announced", "problem"),
    [
        (PNG, {"size": len(PNG)}, "is image/png; video/mp4 was announced"),
        (HTML, {"size": len(HTML)}, "is text/html; video/mp4 was announced"),
        (MP4[:-1] + b"?", {}, "another SHA-256 than announced"),
    ],
)
def test_what_is_not_what_was_announced_changes_no_record(
    world: World, content: bytes, announced: dict[str, Any], problem: str
) -> None:
    upload = world.reserve(**announced)
    world.deliver(upload, content)
    digest = DIGEST if "SHA" in problem else sha256(content).hexdigest()
    with pytest.raises(UploadRefused, match=problem):
        world.finalize(upload, sha256=digest)
    assert world.points_at() is None
    assert keys(world) == [upload.staging]
    assert world.store.get(upload.ref).status is UploadStatus.OPEN, "the right file may still come"


def test_a_wrong_size_is_refused_even_when_the_store_took_it(here: World) -> None:
    upload = here.reserve(sha256=sha256(OTHER_MP4).hexdigest())
    here.objects.put(upload.staging, OTHER_MP4)
    with pytest.raises(UploadRefused, match=f"has {len(OTHER_MP4)} bytes; {len(MP4)} were announced"):
        here.finalize(upload, sha256=None)


def test_the_right_file_may_follow_a_wrong_one(here: World) -> None:
    upload = here.reserve()
    here.deliver(upload, MP4[:-1] + b"?")
    with pytest.raises(UploadRefused):
        here.finalize(upload)
    here.deliver(upload)
    here.finalize(upload)
    assert here.objects.get(CLIP).read() == MP4


def test_the_digest_must_be_told_once_and_be_one(here: World) -> None:
    upload = here.reserve()
    here.deliver(upload)
    with pytest.raises(UploadRefused, match="tell its SHA-256"):
        here.finalize(upload, sha256=None)
    told = here.reserve(sha256=DIGEST.upper())
    here.deliver(told)
    with pytest.raises(UploadRefused, match="another SHA-256"):
        here.finalize(told, sha256=sha256(b"").hexdigest())
    here.finalize(told, sha256=DIGEST.upper())


def test_a_file_that_has_not_come_is_asked_for(here: World) -> None:
    upload = here.reserve()
    with pytest.raises(UploadRefused, match="has not arrived"):
        here.finalize(upload)
    with pytest.raises(NotFound):
        here.finalize(Upload(**{**upload.__dict__, "upload_id": "other"}))


def test_whole_and_in_parts_are_told_apart(here: World) -> None:
    with pytest.raises(InvalidValue, match="ask for part_urls"):
        here.uploads.url(here.reserve(here.in_parts))
    with pytest.raises(InvalidValue, match="ask for its url"):
        here.uploads.part_urls(here.reserve())


def test_bytes_replaced_after_they_were_verified_do_not_arrive(world: World) -> None:
    """The URL still works while the file is looked at."""
    upload = world.reserve()
    world.deliver(upload)
    real = world.objects

    class Late(Mortal):
        """The client puts other bytes between the look and the copy."""

        def copy(self, source: str, target: str, **conditions: object) -> object:
            real.put(upload.staging, OTHER_MP4)
            return real.copy(source, target, **conditions)  # type: ignore[arg-type]

    world.objects = Late(real, Fate())  # type: ignore[assignment]
    with pytest.raises(Conflict):
        world.finalize(upload)
    world.objects = real
    assert world.points_at() is None
    assert keys(world) == [upload.staging]


# One place, several files


@pytest.mark.parametrize("other", [OTHER_MP4, MP4[:-1] + b"?"], ids=["longer", "as long"])
def test_another_file_s_place_is_not_taken_unless_it_may_be(here: World, other: bytes) -> None:
    here.objects.put(CLIP, other)
    upload = here.reserve()
    here.deliver(upload)
    with pytest.raises(Conflict, match="other bytes lie at"):
        here.finalize(upload)
    assert here.objects.get(CLIP).read() == other
    here.finalize(upload, replace=True)
    assert here.objects.get(CLIP).read() == MP4


def test_a_file_whose_change_is_refused_replaces_nothing(here: World) -> None:
    """Bytes that are overwritten cannot be had back, so the block is heard first."""
    here.objects.put(CLIP, OTHER_MP4)
    upload = here.reserve(sha256=DIGEST)
    here.deliver(upload)
    with (
        pytest.raises(InvalidValue, match="not now"),
        here.uploads.finalize(upload.upload_id, replace=True) as arrived,
    ):
        assert arrived.key == CLIP
        raise InvalidValue("not now")
    assert here.objects.get(CLIP).read() == OTHER_MP4
    here.finalize(upload, replace=True)
    assert here.objects.get(CLIP).read() == MP4


def test_the_very_same_bytes_may_be_there_already(here: World) -> None:
    here.objects.put(CLIP, MP4)
    upload = here.reserve()
    here.deliver(upload)
    here.finalize(upload)
    assert here.points_at() == CLIP


def test_a_change_that_is_refused_leaves_the_upload_open(here: World) -> None:
    upload = here.reserve()
    here.deliver(upload)
    with pytest.raises(RuntimeError, match="no"), here.uploads.finalize(upload.upload_id, sha256=DIGEST):
        raise RuntimeError("no")
    assert here.points_at() is None
    assert here.store.get(upload.ref).status is UploadStatus.OPEN
    here.finalize(upload)
    assert here.points_at() == CLIP


def test_a_file_has_arrived_also_if_the_bytes_that_were_sent_cannot_be_removed(here: World) -> None:
    """The record points at it already, so nobody is told of a failure; the sweep removes them."""
    real, upload = here.objects, here.reserve()
    here.deliver(upload)

    class Keeping(Mortal):
        def delete(self, some: Iterable[str]) -> None:
            raise Unavailable("not now")

    here.objects = Keeping(real, Fate())
    here.finalize(upload)
    here.objects = real
    assert (here.points_at(), keys(here)) == (CLIP, [CLIP, upload.staging])
    here.settle()
    assert keys(here) == [CLIP]


def test_a_record_that_moved_meanwhile_is_not_pointed_anywhere(here: World) -> None:
    upload = here.reserve()
    here.deliver(upload)
    with pytest.raises(Conflict), here.uploads.finalize(upload.upload_id, sha256=DIGEST) as arrived:
        scene = arrived.change.get(here.scene.ref)
        with here.store.change() as other:
            other.save(other.get(here.scene.ref).fail(error_message="no film"))
        arrived.change.save(scene.finish(video_clip_s3_key=arrived.key))
    assert here.points_at() is None


def test_an_upload_is_of_its_project(here: World) -> None:
    upload = here.reserve()
    assert upload.project_id == str(here.scene.project_id)
    stranger = here.store.scoped("another project", enforce=False)
    with pytest.raises(NotFound), World(stranger, here.objects, here.clock).uploads.finalize(upload.upload_id):
        pass


def test_who_brought_a_file_is_in_the_audit_trail(here: World) -> None:
    upload = here.reserve()
    here.deliver(upload)
    here.finalize(upload, by="editor", why="first cut")
    (line,) = here.store.find(SystemAudit.of_project(project_id=str(here.scene.project_id)))
    assert (line.actor, line.details["why"]) == ("editor", "first cut")
    assert {told["record"].partition("(")[0] for told in line.details["changes"]} == {"Scene", "Upload"}


def test_a_record_of_a_domain_without_patterns_cannot_have_the_kernel_s_places(here: World) -> None:
    """Else it would take the bytes of another upload for its own."""
    lease = NamedLease(name="any record")
    for target in ("uploads/x", "trash/2037-01-01/x", "archive/x"):
        with pytest.raises(ForeignFile, match="the kernel keeps"):
            here.reserve_for(lease, target=target)
    assert here.reserve_for(lease, target="elsewhere/x").target == "elsewhere/x"


def test_an_upload_does_not_live_for_ever(here: World) -> None:
    for life in (timedelta(days=8), timedelta(0)):
        with pytest.raises(InvalidValue, match="7 days at most"):
            Uploads(here.store, here.objects, life=life)


# What nobody finishes


def test_an_upload_ends_and_its_bytes_go(world: World) -> None:
    whole, parts, left = world.reserve(), world.reserve(world.in_parts), world.reserve()
    world.deliver(whole)
    world.deliver(parts)
    world.clock.advance(timedelta(hours=23, minutes=59))
    assert world.uploads.sweep().abandoned == 0
    world.clock.advance(timedelta(minutes=1))
    for upload in (whole, parts, left):
        with pytest.raises(UploadRefused, match="is over"):
            world.finalize(upload)
    assert world.uploads.sweep().abandoned == 3
    assert keys(world) == []
    assert {world.store.get(u.ref).status for u in (whole, parts, left)} == {UploadStatus.ABANDONED}
    assert world.uploads.sweep().abandoned == 0
    with pytest.raises(NotFound):
        world.objects.parts(parts.staging, parts.parts_id or "")


def test_its_urls_end_with_it(here: World) -> None:
    upload = here.reserve()
    assert here.uploads.url(upload).expires_at == upload.expires_at
    here.clock.advance(timedelta(hours=20))
    url = here.uploads.url(upload)
    assert url.expires_at == upload.expires_at
    here.clock.advance(timedelta(hours=4))
    assert send(url, body=MP4).status == 403
    with pytest.raises(UploadRefused, match="is over"):
        here.uploads.url(upload)
    in_parts = here.reserve(here.in_parts)
    here.clock.advance(timedelta(hours=20))
    assert {part.url.expires_at for part in here.in_parts.part_urls(in_parts)} == {in_parts.expires_at}


def test_one_who_gives_up_leaves_nothing(here: World) -> None:
    for upload in (here.reserve(), here.reserve(here.in_parts)):
        here.deliver(upload)
        here.uploads.abandon(upload, by="editor")
        assert keys(here) == []
        with pytest.raises(UploadRefused, match="was given up"):
            here.finalize(upload)


def test_bytes_that_come_too_late_go_as_well(here: World) -> None:
    """The sweep was there before them."""
    upload = here.reserve()
    here.clock.advance(timedelta(days=1))
    here.uploads.sweep()
    here.objects.put(upload.staging, MP4)
    here.objects.put(f"uploads/{sortable_id(here.clock.now())}", MP4)
    assert here.uploads.sweep().strays == 0, "not at once: somebody might still be at it"
    here.clock.advance(timedelta(days=1))
    assert here.uploads.sweep().strays == 2
    assert keys(here) == []


def test_what_others_keep_among_the_uploads_stays(here: World) -> None:
    """Only what has the form of an upload's name can be the rest of one."""
    foreign = [
        "uploads/2024.csv",
        "uploads/invoices/2024/may.pdf",
        f"uploads/{sortable_id(here.clock.now())}/notes.txt",
    ]
    for file in foreign:
        here.objects.put(file, b"not ours")
    here.clock.advance(timedelta(days=99))
    assert here.uploads.sweep().strays == 0
    assert keys(here) == sorted(foreign)


def test_an_upload_is_forgotten_in_the_end(here: World) -> None:
    upload = here.reserve()
    here.deliver(upload)
    here.finalize(upload)
    here.clock.advance(timedelta(days=8))
    assert here.store.lookup(upload.ref) is None


# Death between any two steps


def life(world: World, parts: bool) -> None:
    """Everything a service does for one file."""
    uploads = world.in_parts if parts else world.uploads
    upload = world.reserve(uploads)
    world.deliver(upload)
    world.finalize(upload, uploads)


def mortal(world: World, fate: Fate) -> World:
    """The same world, in a process that ends by fate."""
    store = Store(Mortal(world.store.engine, fate, *STORE_STEPS), clock=world.clock)
    return World(store, Mortal(world.objects, fate, *OBJECT_STEPS), world.clock)


def new_world(tmp_path: Path, open_local: Callable[[Clock | None], LocalObjects], at: int) -> World:
    clock = FrozenClock(datetime.now(UTC).replace(microsecond=0))
    world = World(open_store(f"sqlite:///{tmp_path}/{at}.db", clock=clock), open_local(clock), clock)
    world.begin()
    return world


def clean_up(world: World) -> None:
    world.store.close()
    world.objects.delete([found.key for found in every(world.objects)])


def check_settled(world: World) -> bool:
    """Everything is there, or nothing; was it everything?"""
    pointed = world.points_at()
    assert pointed in (None, CLIP)
    assert keys(world) == ([CLIP] if pointed else []), "no bytes but those a record points at"
    assert not pointed or world.objects.get(CLIP).read() == MP4
    assert list(world.store.find(Upload.by_status(status=UploadStatus.OPEN))) == []
    assert world.objects.drop_unfinished(before=datetime.now(UTC) + timedelta(days=99)) == 0
    plan = world.reconciliation.plan()
    assert (plan.orphans, plan.missing) == ([], [])
    return bool(pointed)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("parts", [False, True], ids=["whole", "in parts"])
def test_a_death_at_any_step_is_settled_by_the_next_sweep(
    tmp_path: Path, open_local: Callable[[Clock | None], LocalObjects], parts: bool, after: bool
) -> None:
    outcomes = []
    at = 0
    while True:
        world, fate = new_world(tmp_path, open_local, at), Fate(at, after=after)
        died = False
        try:
            life(mortal(world, fate), parts)
        except Death:
            died = True
        world.settle()
        outcomes.append(check_settled(world))
        clean_up(world)
        if not died:
            break
        at += 1
    assert at >= (8 if parts else 5), "every step was one to die at"
    assert outcomes[-1] is True, "without a death the file arrives"
    assert outcomes[0] is False, "with one at the first step it does not"
    assert outcomes == sorted(outcomes), "once it is done, it stays so"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("parts", [False, True], ids=["whole", "in parts"])
def test_a_death_while_finishing_is_mended_by_finishing_again(
    tmp_path: Path, open_local: Callable[[Clock | None], LocalObjects], parts: bool, after: bool
) -> None:
    at = 0
    while True:
        world, fate = new_world(tmp_path, open_local, at), Fate(at, after=after)
        uploads = world.in_parts if parts else world.uploads
        upload = world.reserve(uploads)
        world.deliver(upload)
        dying = mortal(world, fate)
        try:
            dying.finalize(upload, dying.in_parts if parts else dying.uploads)
        except Death:
            if world.store.get(upload.ref).status is UploadStatus.OPEN:
                world.finalize(upload, uploads)
        else:
            break
        assert world.points_at() == CLIP
        assert world.objects.get(CLIP).read() == MP4
        world.settle()
        assert check_settled(world)
        clean_up(world)
        at += 1
    assert at >= (5 if parts else 3)


@pytest.mark.parametrize("removed", [0, 1, 3])
def test_a_death_among_parts_that_are_joined_already_is_mended_by_finishing_again(
    here: World, monkeypatch: pytest.MonkeyPatch, removed: int
) -> None:
    """Of local files each part is removed by itself, and whoever looks at the rest sees an upload that is not whole."""
    uploads = Uploads(here.store, here.objects, at_once=100, part_size=3000)
    upload = here.reserve(uploads)
    here.deliver(upload)
    fate = Fate(removed)
    monkeypatch.setattr(parts_folder, "remove", lambda *args: fate.step("remove", lambda: remove(*args)))
    with pytest.raises(Death):
        here.finalize(upload, uploads)
    monkeypatch.undo()
    here.finalize(upload, uploads)
    assert here.objects.get(CLIP).read() == MP4
    with pytest.raises(NotFound):
        here.objects.parts(upload.staging, upload.parts_id or "")
    here.settle()
    assert check_settled(here)


def test_parts_are_kept_though_other_bytes_lie_where_they_are_to_be_joined(here: World) -> None:
    """Whoever has put something there has not sent the file."""
    content = MP4 + bytes(11 * MEGABYTE)
    upload = here.reserve(here.in_parts, size=len(content))
    digest = sha256(content).hexdigest()
    first, *rest = here.in_parts.part_urls(upload)
    assert send(first.url, body=content[first.start : first.stop]).status == 200
    here.objects.put(upload.staging, b"other")
    with pytest.raises(UploadRefused, match="1 of 3 parts of the file are whole; send the others"):
        here.finalize(upload, here.in_parts, sha256=digest)
    for part in rest:
        assert send(part.url, body=content[part.start : part.stop]).status == 200
    here.finalize(upload, here.in_parts, sha256=digest)
    assert here.objects.head(CLIP).size == len(content)


def test_a_sweep_that_dies_is_ended_by_the_next(
    tmp_path: Path, open_local: Callable[[Clock | None], LocalObjects]
) -> None:
    at = 0
    while True:
        world, fate = new_world(tmp_path, open_local, at), Fate(at)
        for upload in (world.reserve(), world.reserve(world.in_parts)):
            world.deliver(upload)
        world.objects.put(f"uploads/{sortable_id(world.clock.now())}", MP4)
        world.objects.put(f"{FOLDER}/product.jpg", PNG)
        world.clock.advance(timedelta(days=3))
        died = False
        try:
            mortal(world, fate).sweep.run()
        except Death:
            died = True
        world.settle()
        assert check_settled(world) is False
        clean_up(world)
        if not died:
            break
        at += 1
    assert at >= 12
