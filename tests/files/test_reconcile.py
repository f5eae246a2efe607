"""Records and files fit together, or it is reported, and mended on request; what goes can be had back for a while."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from typing import Any
from uuid import uuid4

import pytest

from penstock import Domain, Entity, FrozenClock, IndexKey, ObjectKey, Store, Table, key
from penstock.domains import DOMAINS
from penstock.domains.assetcreator.model import AssetVersion
from penstock.domains.assetcreator.stages import AssetKind
from penstock.domains.musicvideo.model import Project, Scene, SceneStatus
from penstock.domains.speech.model import TempAudio
from penstock.errors import Conflict
from penstock.files.deletion import delete_with_files, release_files, settle_released
from penstock.files.reconcile import Reconciliation
from penstock.files.references import References
from penstock.files.released_file import Released, ReleasedStatus
from penstock.files.sweep import Sweep
from penstock.files.trash import Trash
from penstock.kernel.lease import take_named
from penstock.objects import LocalObjects
from penstock.operations.writes import Put
from penstock.ports.clock import Clock
from penstock.ports.ids import sortable_id
from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import ListedObject, ObjectListing
from penstock.testing.object_promises.promise import PNG, WAV
from tests import watch
from tests.objects.faults import Fate, Mortal
from tests.objects.world import CLIP, DIGEST, FOLDER, MP4, OTHER_MP4, PROJECT, World, keys, scene

PICTURE = f"{FOLDER}/character.png"
REFERENCE = "mv/outputs/character_reference/robot.png"
DAY = timedelta(days=1)


def point(world: World, **fields: object) -> None:
    """Let the scene point at files."""
    world.store.put(scene(world.clock, **fields))


# What does not fit together


def test_what_fits_together_is_left_alone(world: World) -> None:
    for file in (CLIP, PICTURE, REFERENCE):
        world.objects.put(file, MP4)
    world.objects.put("another/app/file.txt", b"not ours")
    point(world, video_clip_s3_key=CLIP, reference_image_s3_keys=[PICTURE, REFERENCE])
    world.clock.advance(30 * DAY)
    report = world.reconciliation.run()
    assert (report.orphans, report.missing, report.young, report.undecided, report.hidden) == ([], [], 0, 0, [])
    assert keys(world) == ["another/app/file.txt", REFERENCE, PICTURE, CLIP]


def test_a_file_without_a_record_is_reported_then_moved_then_gone(world: World) -> None:
    world.objects.put(CLIP, MP4)
    world.objects.put(f"{FOLDER}/notes.txt", b"what no record may point at")
    assert (world.reconciliation.plan().young, world.reconciliation.plan().orphans) == (2, [])
    world.clock.advance(DAY + timedelta(minutes=5))
    report = world.reconciliation.plan()
    assert sorted(found.key for found in report.orphans) == [f"{FOLDER}/notes.txt", CLIP]
    assert report.orphan_bytes == len(MP4) + 27
    assert keys(world) == [f"{FOLDER}/notes.txt", CLIP], "a plan changes nothing"
    assert world.reconciliation.run().discarded == 2
    today = world.clock.now().date().isoformat()
    assert keys(world) == [f"trash/{today}/{FOLDER}/notes.txt", f"trash/{today}/{CLIP}"]
    world.clock.advance(7 * DAY)
    assert world.trash.purge().objects == 0
    world.clock.advance(DAY)
    assert (world.trash.purge().objects, keys(world)) == (2, [])


def test_a_record_whose_file_is_missing_is_reported(world: World) -> None:
    point(world, video_clip_s3_key=CLIP)
    (missing,) = world.reconciliation.run().missing
    assert (missing.key, missing.in_trash) == (CLIP, False)
    assert missing.record == f"Scene(project_id={PROJECT}, sequence=1)"


def test_a_url_in_place_of_a_key_is_a_missing_file(here: World) -> None:
    """Another writer may have stored one; it keeps nobody from looking at the rest."""
    values = {**scene(here.clock).__dict__, "video_clip_s3_key": "https://host/clip.mp4"}
    here.store.engine.commit([Put(Scene.__shape__, values)], now=here.clock.now(), token="t")
    assert [missing.key for missing in here.reconciliation.run().missing] == ["https://host/clip.mp4"]
    assert len(watch.seen) == 1
    watch.seen.clear()


def test_a_file_that_a_record_misses_comes_back_from_the_trash(world: World) -> None:
    world.objects.put(CLIP, MP4)
    world.clock.advance(2 * DAY)
    world.reconciliation.run()
    assert CLIP not in keys(world)
    point(world, video_clip_s3_key=CLIP)
    world.clock.advance(6 * DAY)
    report = world.reconciliation.run()
    assert ([m.in_trash for m in report.missing], report.restored) == ([True], 1)
    assert keys(world) == [CLIP]
    assert world.objects.get(CLIP).read() == MP4
    assert world.reconciliation.plan().missing == []


def test_a_file_that_is_on_its_way_is_no_orphan(here: World) -> None:
    """Its upload is open, so the record is about to follow."""
    here.objects.put(CLIP, MP4)
    here.clock.advance(2 * DAY)
    here.reserve()
    assert here.reconciliation.plan().orphans == []
    here.clock.advance(2 * DAY)
    here.uploads.sweep()
    assert [found.key for found in here.reconciliation.plan().orphans] == [CLIP]


def test_a_file_that_several_records_show_stays_while_one_does(here: World) -> None:
    here.objects.put(PICTURE, PNG)
    here.objects.put(REFERENCE, PNG)
    shown = scene(here.clock, sequence=2, reference_image_s3_keys=[PICTURE, REFERENCE])
    here.store.create(shown)
    here.clock.advance(2 * DAY)
    assert here.reconciliation.plan().orphans == []
    here.store.delete(shown.ref)
    assert {found.key for found in here.reconciliation.plan().orphans} == {PICTURE, REFERENCE}


def test_a_scene_is_found_even_when_its_project_is_gone(here: World) -> None:
    """By what the key tells: no enumeration leads there any more."""
    here.objects.put(CLIP, MP4)
    here.objects.put(PICTURE, PNG)
    point(here, video_clip_s3_key=CLIP, reference_image_s3_keys=[PICTURE])
    here.store.delete(Project.at(project_id=PROJECT))
    here.clock.advance(2 * DAY)
    assert here.reconciliation.plan().orphans == []


def test_scenes_of_several_projects_that_are_gone_are_found_at_once(here: World) -> None:
    for project in (PROJECT, uuid4(), uuid4()):
        picture = f"mv/projects/{project}/character.png"
        here.objects.put(picture, PNG)
        here.store.put(scene(here.clock, project_id=project, reference_image_s3_keys=[picture]))
    here.store.delete(Project.at(project_id=PROJECT))
    here.clock.advance(2 * DAY)
    assert here.reconciliation.plan().orphans == []


def test_an_expired_record_needs_its_file_no_longer(
    store: Store, open_local: Callable[[Clock | None], LocalObjects], present: FrozenClock, clock: FrozenClock
) -> None:
    """F-TA-3: the record is gone before anybody looks; its file is found all the same."""
    clock.set(present.now())
    objects = open_local(clock)
    audio = TempAudio.made(
        uuid4(), at=clock.now(), text="", voice_id="v", duration=1, file_size_bytes=1, ip_address="::1"
    )
    store.create(audio)
    objects.put(audio.file, WAV)
    reconciliation = Reconciliation(store, objects, Trash(objects, clock), DOMAINS)
    assert reconciliation.plan().young == 0, "its record is there"
    clock.advance(2 * DAY)
    assert [found.key for found in reconciliation.run().orphans] == [audio.s3_key]
    assert objects.list("temp-audio/").objects == []


PICTURES = Table("Pictures", partition="PK", sort="SK")


class Width(StrEnum):
    NARROW = "narrow"


class Picture(Entity, table=PICTURES):
    """Its records cannot all be found, and its files do not tell whose they are."""

    name: str
    file: ObjectKey

    @key("PICTURE#{name}", "PICTURE")
    def at(self, *, name: str) -> None: ...


class Mount(Entity, table=PICTURES):
    """Its records can all be found, and name those of the pictures; but a picture is found by its whole key alone."""

    name: str
    width: Width = Width.NARROW

    @key("MOUNT#{name}", "MOUNT")
    def at(self, *, name: str) -> None: ...

    by_width = IndexKey(PICTURES.index("by_width", partition="P1", sort="S1"), "WIDTH#{width}", "{name}")


ALBUM = Domain("album", Picture, Mount, files=("album/*.png", "named/{name}.png"))


def test_nothing_is_touched_that_somebody_might_need(here: World) -> None:
    here.store.ensure(ALBUM)
    here.store.put_many([Picture(name="a", file="album/x.png"), Mount(name="a")])
    for file in ("album/x.png", "album/y.png", "named/a.png"):
        here.objects.put(file, PNG)
    here.clock.advance(2 * DAY)
    report = Reconciliation(here.store, here.objects, here.trash, [ALBUM]).run()
    assert (report.hidden, report.undecided) == (["album.Picture"], 2)
    assert [found.key for found in report.orphans] == ["named/a.png"], "here the key tells, and the record says no"
    assert [found.key for found in here.objects.list("album/").objects] == ["album/x.png", "album/y.png"]


def test_files_of_several_domains_are_told_apart(here: World) -> None:
    here.objects.put(f"{FOLDER}/final.mp4", MP4)
    here.objects.put("assets/p1/hero/1.glb", MP4)
    here.clock.advance(2 * DAY)
    here.store.ensure(*DOMAINS)
    here.store.create(
        AssetVersion(
            project_id="p1",
            asset_id="hero",
            version=1,
            type=AssetKind.SOLID,
            files=["assets/p1/hero/1.glb"],
            created_at=here.clock.now(),
        )
    )
    report = Reconciliation(here.store, here.objects, here.trash, DOMAINS).plan()
    assert [found.key for found in report.orphans] == [f"{FOLDER}/final.mp4"]
    assert set(report.hidden) >= {"videos.Video"}, "it is said whose files were not looked for"


def test_every_domain_is_looked_through_or_said_to_be_hidden(here: World) -> None:
    here.store.ensure(*DOMAINS)
    hidden = {entity.__shape__.label for entity in References(here.store, DOMAINS).hidden}
    of_novae = {f"novae.{name}" for name in ("Dataset", "FileObject", "DatasetVerdict", "Contribution", "NovaBundle")}
    assert hidden == {"videos.Video", "speech.TempAudio", *of_novae}


def test_more_than_a_page_of_records_and_files_is_compared(here: World) -> None:
    for number in range(2, 260):
        here.store.create(scene(here.clock, sequence=number, reference_image_s3_keys=[f"{REFERENCE[:-4]}{number}.png"]))
        here.objects.put(f"{REFERENCE[:-4]}{number}.png", b"")
    here.objects.put(REFERENCE, PNG)
    here.clock.advance(2 * DAY)
    report = here.reconciliation.plan()
    assert ([found.key for found in report.orphans], report.missing) == ([REFERENCE], [])


# The trash


def test_bytes_that_came_meanwhile_do_not_go_to_the_trash(here: World) -> None:
    here.objects.put(CLIP, MP4)
    found = here.objects.head(CLIP)
    here.objects.put(CLIP, OTHER_MP4)
    assert here.trash.put(found) is False
    assert keys(here) == [CLIP]
    assert here.objects.get(CLIP).read() == OTHER_MP4


def test_what_is_gone_already_is_not_moved(here: World) -> None:
    here.objects.put(CLIP, MP4)
    found = here.objects.head(CLIP)
    here.objects.delete([CLIP])
    assert here.trash.put(found) is False
    assert keys(here) == []


def test_a_move_that_died_half_way_is_ended(here: World) -> None:
    here.objects.put(CLIP, MP4)
    found = here.objects.head(CLIP)
    here.objects.copy(CLIP, f"trash/{here.clock.now().date()}/{CLIP}")
    assert here.trash.put(found) is True
    assert keys(here) == [f"trash/{here.clock.now().date()}/{CLIP}"]


def test_a_second_file_of_the_same_key_waits_for_another_day(here: World) -> None:
    """What lies in the trash is promised for the whole window."""
    here.objects.put(CLIP, MP4)
    assert here.trash.put(here.objects.head(CLIP)) is True
    here.objects.put(CLIP, OTHER_MP4)
    assert here.trash.put(here.objects.head(CLIP)) is False
    here.clock.advance(DAY)
    assert here.trash.put(here.objects.head(CLIP)) is True
    assert len(keys(here)) == 2
    assert here.trash.restore(CLIP) is True
    assert here.objects.get(CLIP).read() == OTHER_MP4, "the newest comes back"


def test_nothing_is_restored_over_another_file(here: World) -> None:
    here.objects.put(CLIP, MP4)
    here.trash.put(here.objects.head(CLIP))
    here.objects.put(CLIP, OTHER_MP4)
    assert here.trash.restore(CLIP) is False
    assert here.objects.get(CLIP).read() == OTHER_MP4
    assert here.trash.restore("never/there") is False


def test_a_key_too_long_for_the_trash_stays(here: World) -> None:
    long = "mv/projects/" + "/".join(["x" * 100] * 10)
    here.objects.put(long, MP4)
    assert here.trash.put(here.objects.head(long)) is False
    assert keys(here) == [long]
    assert here.trash.find(long) is None


def test_what_others_put_into_the_trash_stays(here: World) -> None:
    for file in ("trash/README.txt", "trash/20200101/mv/a.mp4", "trash/2020-W01-1/a"):
        here.objects.put(file, b"")
    here.clock.advance(999 * DAY)
    assert here.trash.purge().objects == 0


# Honest deletion


def test_a_record_takes_its_own_files_along(world: World) -> None:
    for file in (CLIP, PICTURE):
        world.objects.put(file, MP4)
    point(world, video_clip_s3_key=CLIP, reference_image_s3_keys=[PICTURE])
    world.clock.advance(timedelta(minutes=5))
    with world.store.change(by="editor") as change:
        assert delete_with_files(world.store, change, change.get(world.scene.ref)) == [CLIP]
    (released,) = world.store.find(Released.by_status(status=ReleasedStatus.WAITING))
    assert (released.files, released.folders) == ([CLIP], None)
    assert world.store.lookup(Scene.at(project_id=PROJECT, sequence=1)) is None
    assert keys(world) == [PICTURE, CLIP], "the sweep does it, not the request"
    swept = world.sweep.run()
    assert swept is not None
    assert swept.released == 1
    today = world.clock.now().date().isoformat()
    assert keys(world) == [PICTURE, f"trash/{today}/{CLIP}"], "what others may show stays"
    assert list(world.store.find(Released.by_status(status=ReleasedStatus.WAITING))) == []
    world.clock.advance(9 * DAY)
    world.sweep.run()
    world.clock.advance(9 * DAY)
    world.sweep.run()
    assert keys(world) == [], "and the picture goes once nobody shows it"


def test_a_deletion_can_be_undone(here: World) -> None:
    here.objects.put(CLIP, MP4)
    point(here, video_clip_s3_key=CLIP)
    here.clock.advance(timedelta(minutes=5))
    former = here.scene
    with here.store.change() as change:
        delete_with_files(here.store, change, change.get(former.ref))
    here.sweep.run()
    assert CLIP not in keys(here)
    here.store.create(former)
    swept = here.sweep.run()
    assert swept is not None
    assert swept.reconciled.restored == 1
    assert here.objects.get(CLIP).read() == MP4


def test_a_record_that_changed_meanwhile_is_not_deleted(here: World) -> None:
    here.objects.put(CLIP, MP4)
    with pytest.raises(Conflict), here.store.change() as change:
        found = change.get(here.scene.ref)
        point(here, video_clip_s3_key=CLIP, status=SceneStatus.PROCESSING)
        delete_with_files(here.store, change, found)
    assert here.points_at() == CLIP
    assert list(here.store.find(Released.by_status(status=ReleasedStatus.WAITING))) == []


def test_the_file_of_a_new_record_in_the_same_place_stays(here: World) -> None:
    here.objects.put(CLIP, MP4)
    point(here, video_clip_s3_key=CLIP)
    here.clock.advance(timedelta(minutes=-5))
    with here.store.change() as change:
        delete_with_files(here.store, change, change.get(here.scene.ref))
    here.clock.advance(timedelta(minutes=5))
    point(here, video_clip_s3_key=CLIP)
    swept = here.sweep.run()
    assert swept is not None
    assert (swept.released, swept.reconciled.restored) == (0, 0)
    assert keys(here) == [CLIP]


def test_a_released_file_that_was_written_anew_stays_though_no_record_points_at_it_yet(here: World) -> None:
    """It is on its way to a record of somebody who has just brought it."""
    here.objects.put(CLIP, MP4)
    point(here, video_clip_s3_key=CLIP)
    here.clock.advance(timedelta(minutes=-5))
    with here.store.change() as change:
        delete_with_files(here.store, change, change.get(here.scene.ref))
    here.clock.advance(timedelta(minutes=5))
    swept = here.sweep.run()
    assert swept is not None
    assert swept.released == 0
    assert keys(here) == [CLIP]


def test_a_released_file_to_which_a_record_points_again_stays(here: World) -> None:
    """The same bytes are brought once more before the sweep comes, so the file there is the old one."""
    here.objects.put(CLIP, MP4)
    point(here, video_clip_s3_key=CLIP)
    here.clock.advance(timedelta(minutes=5))
    with here.store.change() as change:
        delete_with_files(here.store, change, change.get(here.scene.ref))
    here.store.create(scene(here.clock, status=SceneStatus.PROCESSING))
    upload = here.reserve()
    here.deliver(upload)
    here.finalize(upload)
    swept = here.sweep.run()
    assert swept is not None
    assert (swept.released, swept.reconciled.restored) == (0, 0)
    assert keys(here) == [CLIP]
    assert list(here.store.find(Released.by_status(status=ReleasedStatus.WAITING))) == []


def test_a_released_file_of_a_record_that_no_enumeration_finds_stays_while_it_is_needed(here: World) -> None:
    """What reconciling would not bring back must not go."""
    here.store.ensure(ALBUM)
    here.objects.put("named/a.png", PNG)
    picture = Picture(name="a", file="named/a.png")
    here.store.create(picture)
    here.clock.advance(timedelta(minutes=5))
    with here.store.change() as change:
        delete_with_files(here.store, change, change.get(picture.ref))
    here.store.create(picture)
    swept = Sweep(here.store, here.objects, [ALBUM], owner="sweeper").run()
    assert swept is not None
    assert (swept.released, swept.reconciled.hidden, keys(here)) == (0, ["album.Picture"], ["named/a.png"])


def test_records_are_released_on_every_engine(
    store: Store, open_local: Callable[[Clock | None], LocalObjects], present: FrozenClock, clock: FrozenClock
) -> None:
    clock.set(present.now())
    objects: ObjectStore = open_local(clock)
    world = World(store, objects, clock)
    world.begin()
    objects.put(CLIP, MP4)
    upload = world.reserve()
    world.deliver(upload)
    world.finalize(upload)
    clock.advance(timedelta(minutes=5))
    with store.change(by="editor") as change:
        delete_with_files(store, change, change.get(world.scene.ref))
    abandoned = world.reserve_for(scene(clock))
    clock.advance(2 * DAY)
    swept = Sweep(store, objects, DOMAINS, owner="sweeper").run()
    assert swept is not None
    assert (swept.released, swept.uploads.abandoned) == (1, 1)
    assert keys(world) == [f"trash/{clock.now().date()}/{CLIP}"]
    assert store.get(abandoned.ref).status.value == "abandoned"


# Other writers


def test_folders_that_the_console_of_s3_made_do_not_stop_the_sweep(here: World) -> None:
    """They are empty objects whose keys end with a slash, which is no key of ours."""
    real = here.objects
    made = [f"{key}/" for key in ("uploads", "trash", "trash/2020-01-01", "mv/projects")]

    class WithFolders(Mortal):
        def list(self, prefix: str = "", **more: Any) -> ObjectListing:
            listed = real.list(prefix, **more)
            folders = [ListedObject(key, 0, "0", here.clock.now() - 99 * DAY) for key in made if key.startswith(prefix)]
            return ObjectListing([*listed.objects, *folders], listed.cursor)

    stray = f"uploads/{sortable_id(here.clock.now())}"
    real.put(stray, MP4)
    here.clock.advance(2 * DAY)
    here.objects = WithFolders(real, Fate())
    swept = here.sweep.run()
    assert swept is not None
    assert (swept.uploads.strays, swept.purged.objects) == (1, 0)


# One at a time


def test_two_sweeps_do_not_work_at_once(here: World) -> None:
    lease = take_named(here.store, "sweep:objects", owner="another", period=DAY)
    assert lease is not None
    assert here.sweep.run() is None
    here.clock.advance(2 * DAY)
    assert here.sweep.run() is not None


def test_a_record_that_cannot_be_read_keeps_its_files_and_nobody_from_the_others(here: World) -> None:
    here.objects.put(CLIP, MP4)
    other = str(uuid4())
    stray = CLIP.replace(str(PROJECT), other)
    here.objects.put(stray, MP4)
    here.objects.put("speech/temp/stray.txt", b"of another domain")
    point(here, video_clip_s3_key=CLIP)
    connector: Any = here.store.engine.connector  # type: ignore[attr-defined]
    connector.run(f"update {relation_of(Scene)} set status = 'nonsense'", ())
    here.clock.advance(2 * DAY)
    reconciliation = here.reconciliation
    report = reconciliation.run()
    assert report.unreadable == [f"Scene(project_id={PROJECT}, sequence=1)"]
    assert CLIP in keys(here)
    assert report.discarded == len(report.orphans)
    assert not [o for o in report.orphans if o.key in (CLIP, stray)], "a scene might need either"
    point(here, video_clip_s3_key=CLIP)
    mended = reconciliation.plan()
    assert (mended.unreadable, [found.key for found in mended.orphans]) == ([], [stray])


def test_a_file_that_was_released_stays_while_a_record_of_its_partition_cannot_be_read(here: World) -> None:
    """A project's picture may be needed by any of its scenes."""
    here.objects.put(PICTURE, PNG)
    point(here, reference_image_s3_keys=[PICTURE])
    connector: Any = here.store.engine.connector  # type: ignore[attr-defined]
    connector.run(f"update {relation_of(Scene)} set status = 'nonsense'", ())
    here.clock.advance(timedelta(minutes=5))
    with here.store.change() as change:
        release_files(change, here.store.get(Project.at(project_id=PROJECT)), [PICTURE])
    references = References(here.store, DOMAINS)
    assert settle_released(here.store, here.objects, here.trash, references) == 0
    assert keys(here) == [PICTURE]


def relation_of(entity: type[Entity]) -> str:
    return f"{entity.__shape__.domain}_{entity.__shape__.relation}"


def test_a_file_whose_upload_is_looked_at_still_is_no_orphan(world: World) -> None:
    """It lies in its place a moment before its record points there; to look at it may take days."""
    upload = world.reserve(sha256=DIGEST)
    world.deliver(upload)
    with world.store.change() as change:
        world.uploads.arrive(change, upload)
    world.objects.put(CLIP, MP4)
    world.clock.advance(3 * DAY)
    assert world.reconciliation.plan().orphans == []


def test_a_file_that_comes_after_the_look_at_the_files_is_not_missing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.objects.put(CLIP, MP4)
    point(world, video_clip_s3_key=CLIP)
    with monkeypatch.context() as patched:
        patched.setattr("penstock.files.reconcile.every", lambda *asked: iter(()))
        assert world.reconciliation.plan().missing == []
    assert world.reconciliation.plan().missing == []
