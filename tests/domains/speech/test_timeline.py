"""The plan's days, with a clock that stands still, on every engine and both object stores."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock.domains.speech.cleanup import cleanup_yesterday_temp_audio, delete_s3_file, query_temp_audio_by_date
from penstock.domains.speech.model import DOMAIN, CleanupRun, TempAudio, audio_s3_key
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.errors import Unavailable
from penstock.files.trash import Trash
from penstock.lifecycle.reaper import Reaper
from penstock.objects import LocalObjects
from tests.domains.speech.faults import Failing, always, deleting
from tests.domains.speech.story import alerts, at, cleaned, files, messages, moment, spoken


def counts(run: CleanupRun) -> tuple[int, int, int]:
    return run.deleted, run.failed, run.kept


PAGE = Path(__file__).parents[3] / "docs" / "speech.md"


def test_the_days_of_the_plan(anywhere: SpeechStudio, caplog: pytest.LogCaptureFixture) -> None:
    """TA-20, F-TA-2, F-TA-3: its three audios, at its hours; two are deleted, then one, and none fails.

    Only when is not as it says: no file goes before its 24 hours, so noon of its second day comes too early for both
    files of the first; and a record ends at its own second, not at midnight.
    """
    one, two = spoken(anywhere, "12-08 13:02:19"), spoken(anywhere, "12-08 14:30:00")
    three = spoken(anywhere, "12-09 09:00:00")
    day_one, day_two = one.date, three.date
    assert (one.ttl, two.ttl, three.ttl) == (1765285339, 1765290600, 1765357200)
    assert files(anywhere.objects) == {one.s3_key, two.s3_key, three.s3_key}

    noon = cleaned(anywhere, "12-09 12:00:00")
    assert counts(noon) == (0, 0, 2), "22 hours and 58 minutes, and 21 and a half"
    assert (noon.date, set(living(anywhere, day_one))) == (day_one, {one.audio_id, two.audio_id})

    for moment_, left in (("12-09 13:02:18", 2), ("12-09 13:02:19", 1), ("12-09 14:30:00", 0), ("12-10 00:00:00", 0)):
        at(anywhere, moment_)
        assert len(living(anywhere, day_one)) == left, moment_
    assert living(anywhere, day_two) == [three.audio_id]

    with caplog.at_level("INFO", logger="penstock.speech"):
        last = cleaned(anywhere, "12-10 12:00:00")
    assert caplog.messages == [
        "2025-12-08: Deleted: 2, Failed: 0",
        "2025-12-09: Deleted: 1, Failed: 0",
        "Deleted: 3, Failed: 0",
    ]
    assert (last.date, last.folders) == (
        day_two,
        {
            "2025-12-08": {"deleted": 2, "failed": 0, "kept": 0},
            "2025-12-09": {"deleted": 1, "failed": 0, "kept": 0},
        },
    )
    assert files(anywhere.objects) == set()
    assert list(anywhere.store.find(CleanupRun.of_date(date=day_two))) == [last]
    assert counts(cleaned(anywhere, "12-11 12:00:00")) == (0, 0, 0)


def test_the_days_of_the_plan_by_a_later_clock(studio: SpeechStudio, caplog: pytest.LogCaptureFixture) -> None:
    """TA-20, F-TA-2: with the cleanup at 15:00, when the 24 hours of both are over, the plan's counts on its days."""
    spoken(studio, "12-08 13:02:19"), spoken(studio, "12-08 14:30:00"), spoken(studio, "12-09 09:00:00")
    told = []
    for day in ("12-08", "12-09", "12-10", "12-11"):
        with caplog.at_level("INFO", logger="penstock.speech"):
            cleaned(studio, f"{day} 15:00:00")
        told.append(caplog.messages[-1])
    assert told == [f"Deleted: {n}, Failed: 0" for n in (0, 2, 1, 0)]


def test_the_page_tells_how_the_days_differ(studio: SpeechStudio) -> None:
    """TA-20, F-TA-2: each row of its table is what happens."""
    page = PAGE.read_text()
    rows = re.findall(r"^\| 2025-(\d\d-\d\d) (\d\d:\d\d(?::\d\d)?) \| .* \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 7
    for day, hour, told in rows:
        when = f"{day} {hour}" if hour.count(":") == 2 else f"{day} {hour}:00"
        match told.split():
            case ["audio", *_]:
                spoken(studio, when)
            case ["deleted:", *_]:
                run = cleaned(studio, when)
                assert told.startswith(f"deleted: {run.deleted}, failed: {run.failed}, kept: {run.kept}"), when
            case ["records", "that", "live:", number]:
                at(studio, when)
                days = [moment(f"{date} 00:00:00").date() for date in ("12-08", "12-09")]
                assert sum(len(living(studio, date)) for date in days) == int(number), when
            case _:
                pytest.fail(f"{when}: {told}")


def living(studio: SpeechStudio, date: dt.date) -> list[UUID]:
    """The audios of a day whose records live."""
    return [audio.audio_id for audio in query_temp_audio_by_date(studio.store, date)]


@pytest.mark.parametrize(
    ("made", "gone"),
    [
        ("12-08 00:00:00", "12-09 12:00:00"),
        ("12-08 11:59:59", "12-09 12:00:00"),
        ("12-08 12:00:00", "12-09 12:00:00"),
        ("12-08 12:00:01", "12-10 12:00:00"),
        ("12-08 23:59:59", "12-10 12:00:00"),
    ],
)
def test_a_file_lives_24_to_48_hours(studio: SpeechStudio, made: str, gone: str) -> None:
    """TA-19, F-TA-2: by the second, whenever in the day it was made; the run before leaves it."""
    audio = spoken(studio, made)
    for day in ("12-08", "12-09", "12-10"):
        due = f"{day} 12:00:00"
        if moment(due) < moment(made):
            continue
        run = cleaned(studio, due)
        there = audio.s3_key in files(studio.objects)
        assert there == (moment(due) < moment(gone)), due
        assert run.deleted == (due == gone)
    age = moment(gone) - moment(made)
    assert dt.timedelta(hours=24) <= age <= dt.timedelta(hours=48)


def test_the_record_goes_first(anywhere: SpeechStudio) -> None:
    """TA-10, F-TA-3: expired and removed before noon; the plan's query would never see its file again."""
    audio = spoken(anywhere, "12-08 06:00:00")
    at(anywhere, "12-09 06:00:00")
    assert list(query_temp_audio_by_date(anywhere.store, audio.date)) == []
    Reaper(anywhere.store, [DOMAIN], owner="reaper").run_once()
    anywhere.store.delete(audio.ref)
    assert counts(cleaned(anywhere, "12-09 12:00:00")) == (1, 0, 0)
    assert files(anywhere.objects) == set()


def test_the_cleanup_deletes_no_record(anywhere: SpeechStudio) -> None:
    """TA-13: a record that lives is left, and one that does not ends by itself."""
    early, late = spoken(anywhere, "12-08 06:00:00"), spoken(anywhere, "12-08 18:00:00")
    store: Any = Failing(anywhere.store, delete=always, delete_many=always)
    at(anywhere, "12-09 12:00:00")
    assert cleanup_yesterday_temp_audio(store, anywhere.objects).deleted == 1
    assert list(query_temp_audio_by_date(anywhere.store, late.date)) == [late]
    at(anywhere, "12-08 18:00:00")
    assert set(living(anywhere, late.date)) == {early.audio_id, late.audio_id}, "also the one that had ended stands"


def test_three_days_are_missed(anywhere: SpeechStudio) -> None:
    """TA-21, F-TA-4: the next run does all their work."""
    old = [spoken(anywhere, f"12-0{day} 15:00:00") for day in (5, 6, 7, 8)]
    young = spoken(anywhere, "12-09 15:00:00")
    run = cleaned(anywhere, "12-10 12:00:00")
    assert counts(run) == (4, 0, 1)
    assert sorted(run.folders) == ["2025-12-05", "2025-12-06", "2025-12-07", "2025-12-08", "2025-12-09"]
    assert files(anywhere.objects) == {young.s3_key}
    assert all(audio.s3_key not in files(anywhere.objects) for audio in old)


def test_a_deletion_fails(anywhere: SpeechStudio, caplog: pytest.LogCaptureFixture) -> None:
    """TA-15, TA-16, TA-22, F-TA-4: logged with its id, counted, told; the others go, and the next run tries again."""
    some = [spoken(anywhere, "12-08 06:00:00") for _ in range(4)]
    stuck = some[1]
    objects: Any = Failing(anywhere.objects, delete=deleting(f"{stuck.audio_id}.wav"))
    with caplog.at_level("INFO", logger="penstock.speech"):
        run = cleaned(replace(anywhere, objects=objects), "12-09 12:00:00")
    assert counts(run) == (3, 1, 0)
    assert files(anywhere.objects) == {stuck.s3_key}
    assert f"Failed to delete {stuck.audio_id}" in caplog.text
    assert caplog.messages[-1] == "Deleted: 3, Failed: 1"
    ((kind, told),) = alerts(anywhere.store)
    assert kind == "temp_audio.cleanup_incomplete"
    assert told["audio_ids"] == [str(stuck.audio_id)]
    assert counts(cleaned(anywhere, "12-10 12:00:00")) == (1, 0, 0)
    assert files(anywhere.objects) == set()


def test_counts_are_told(studio: SpeechStudio, caplog: pytest.LogCaptureFixture) -> None:
    """TA-16: in the log, in a record and in a message: the day, what was deleted, what failed."""
    spoken(studio, "12-08 06:00:00")
    with caplog.at_level("INFO", logger="penstock.speech"):
        cleaned(studio, "12-09 12:00:00")
    assert "2025-12-08: Deleted: 1, Failed: 0" in caplog.messages
    assert caplog.messages[-1] == "Deleted: 1, Failed: 0"
    ((kind, told),) = messages(studio.store)
    assert kind == "temp_audio.cleaned"
    assert {name: told[name] for name in ("date", "deleted", "failed")} == {
        "date": "2025-12-08",
        "deleted": 1,
        "failed": 0,
    }


def test_midnight(anywhere: SpeechStudio) -> None:
    """TA-18, F-TA-8: the last second of a day and the first of the next lie in two folders; neither goes early.

    A file of the last second whose record is still on its way is left alone.
    """
    last, first = spoken(anywhere, "12-08 23:59:59"), spoken(anywhere, "12-09 00:00:00")
    assert (last.file.split("/")[1], first.file.split("/")[1]) == ("2025-12-08", "2025-12-09")
    coming = audio_s3_key(last.date, uuid4())
    anywhere.objects.put(coming, b"RIFF")
    assert counts(cleaned(anywhere, "12-09 00:00:01")) == (0, 0, 0)
    assert counts(cleaned(anywhere, "12-09 23:59:58"))[0] == 1, "nobody's file; by now its record will not come"
    assert files(anywhere.objects) == {last.s3_key, first.s3_key}
    assert counts(cleaned(anywhere, "12-10 01:00:00")) == (2, 0, 0)


def test_a_file_that_never_had_a_record(anywhere: SpeechStudio) -> None:
    """TA-12, F-TA-3: whatever left it there, it goes with the others of its day."""
    orphan = audio_s3_key(dt.date(2025, 12, 8), uuid4())
    anywhere.objects.put(orphan, b"RIFF")
    assert counts(cleaned(anywhere, "12-09 12:00:00")) == (1, 0, 0)


def test_more_files_than_a_page_holds(studio: SpeechStudio, local: LocalObjects) -> None:
    """TA-12, F-TA-4: 1,050 in one folder, of which one lives."""
    alive = spoken(studio, "12-08 18:00:00")
    folder = local.folder / "objects" / "temp-audio" / "2025-12-08"
    for _ in range(1_049):
        # Not by put, which waits for the disk each time.
        (folder / f"{uuid4()}.wav").write_bytes(b"RIFF")
    assert len(files(studio.objects)) == 1_050
    assert counts(cleaned(studio, "12-09 12:00:00")) == (1_049, 0, 1)
    assert files(studio.objects) == {alive.s3_key}


@pytest.mark.long
def test_more_files_than_a_page_of_s3_holds(anywhere: SpeechStudio) -> None:
    """TA-12: a listing and a deletion take 1,000 keys at most."""
    alive = spoken(anywhere, "12-08 18:00:00")
    for _ in range(1_049):
        anywhere.objects.put(audio_s3_key(alive.date, uuid4()), b"RIFF")
    assert counts(cleaned(anywhere, "12-09 12:00:00")) == (1_049, 0, 1)
    assert files(anywhere.objects) == {alive.s3_key}


def test_what_is_not_ours_is_left(studio: SpeechStudio) -> None:
    """TA-18: other folders, other names, and dates that are none."""
    others = {
        f"elsewhere/2025-12-08/{uuid4()}.wav",
        f"temp-audio/2025-12-08/deeper/{uuid4()}.wav",
        f"temp-audio/2025-13-08/{uuid4()}.wav",
        "temp-audio/2025-12-08/readme.txt",
        "temp-audio/readme.txt",
        f"trash/2025-12-08/elsewhere/2025-12-08/{uuid4()}.wav",
    }
    for key in others:
        studio.objects.put(key, b"RIFF")
    assert counts(cleaned(studio, "12-12 12:00:00")) == (0, 0, 0)
    assert files(studio.objects) == others


def test_another_folder(studio: SpeechStudio) -> None:
    """TA-8, TA-23: the prefix of the settings."""
    elsewhere = replace(studio, options=replace(studio.options, prefix="guests/tmp"))
    audio = spoken(elsewhere, "12-08 06:00:00")
    assert audio.file.startswith("guests/tmp/2025-12-08/")
    at(studio, "12-09 12:00:00")
    assert cleanup_yesterday_temp_audio(studio.store, studio.objects).deleted == 0
    assert cleanup_yesterday_temp_audio(studio.store, studio.objects, prefix="guests/tmp").deleted == 1


def test_speech_does_not_lie_in_the_trash(studio: SpeechStudio) -> None:
    """TA-19: a sweep that finds a file without its record keeps it for a week; guests were promised less."""
    audio = spoken(studio, "12-08 06:00:00")
    at(studio, "12-09 06:00:00")
    (found,) = studio.objects.list("temp-audio/").objects
    assert Trash(studio.objects, studio.store.clock).put(found)
    assert files(studio.objects) == {f"trash/2025-12-09/{audio.s3_key}"}
    assert counts(cleaned(studio, "12-09 12:00:00")) == (1, 0, 0)
    assert files(studio.objects) == set()


def test_a_file_that_is_gone_is_deleted(anywhere: SpeechStudio) -> None:
    """TA-14."""
    audio = spoken(anywhere, "12-08 06:00:00")
    delete_s3_file(anywhere.objects, audio.file)
    delete_s3_file(anywhere.objects, audio.file)
    assert files(anywhere.objects) == set()


def test_a_run_that_cannot_be_done_raises(studio: SpeechStudio, caplog: pytest.LogCaptureFixture) -> None:
    """TA-17: swallowed, it would alert nobody."""
    objects: Any = Failing(studio.objects, list=always)
    at(studio, "12-09 12:00:00")
    with pytest.raises(Unavailable):
        cleanup_yesterday_temp_audio(studio.store, objects)
    assert "Cleanup worker failed: list is refused" in caplog.text


def test_a_day_is_asked_for_as_the_plan_does(studio: SpeechStudio) -> None:
    """TA-12: the function of the plan, for whoever calls it by its name."""
    audio = spoken(studio, "12-08 13:02:19")
    spoken(studio, "12-09 09:00:00")
    found: list[TempAudio] = list(query_temp_audio_by_date(studio.store, dt.date(2025, 12, 8)))
    assert found == [audio]
