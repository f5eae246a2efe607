"""The daily cleanup: files whose 24 hours are over, in the folders of all past days.

The plan deletes, at noon, whatever the records of yesterday point at. That is too early for every file of the
afternoon, and too late for good for a file whose record has expired by then. So it goes the other way round: it lists
the folders, and keeps a file exactly as long as its record lives. A day that was missed, and a file that could not be
deleted, are found again by the next run. A record that has outlived its file, which should not be, is told as expired.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice

from penstock.declare.option import read_options
from penstock.domains.speech.model import PREFIX, RUNS_KEPT, AudioStatus, CleanupRun, TempAudio, audio_file
from penstock.domains.speech.options import SpeechOptions
from penstock.domains.speech.quotas import audio_hold
from penstock.errors import Conflict, NotFound, PenstockError, outage_in
from penstock.events.schedule import Period, Schedule
from penstock.files.object_reads import every
from penstock.kernel.quota_movements import settle_many
from penstock.kernel.store import Store
from penstock.ports.object_store import Objects
from penstock.schema.file_pattern import TRASH
from penstock.work.domain_context import DomainContext

log = logging.getLogger("penstock.speech.cleanup")

WORKER = "cleanup_temp_audio_worker"
SCHEDULE = "cleanup-temp-audio-daily"
TASK_NAMES = tuple(f"app.{module}.cleanup_yesterday_temp_audio" for module in ("workers.cleanup", "celery_worker"))
"What the plan calls the task, in its one configuration and in its other; no module here has such a name."
CLEANED, INCOMPLETE, MISSED = "temp_audio.cleaned", "temp_audio.cleanup_incomplete", "temp_audio.cleanup_missed"
"What is told to others: the counts of each run; and, as alerts, what could not be deleted, and runs that were missed."

_SETTLED = dt.timedelta(hours=1)
"So long after midnight a folder is left alone: a file of its last second may not have its record yet."
_AT_ONCE = 1_000
_NAMED = 100
"So many failed deletions are named in an alert; the log has all."


def schedules(context: DomainContext) -> Sequence[Schedule]:
    """When the cleanup is due. After downtime one run does the work of all that were missed."""
    options = read_options(SpeechOptions, context.setting)

    def run(period: Period) -> None:
        missed = max((period.until - period.since) // dt.timedelta(days=1) - 1, 0)
        cleanup_yesterday_temp_audio(context.store, context.objects, prefix=options.prefix, missed=missed)

    return [Schedule(SCHEDULE, options.cron, run, catch_up="one", task_names=TASK_NAMES)]


def cleanup_yesterday_temp_audio(
    store: Store, objects: Objects, *, prefix: str = PREFIX, missed: int = 0
) -> CleanupRun:
    """Delete the files of yesterday and of every day before that are past their 24 hours; today's are kept.

    What cannot be deleted is counted, logged and told to others, and stops nothing. If the run as a whole cannot be
    done, it raises, and the schedule tells.
    """
    now = store.clock.now()
    run = CleanupRun(
        date=now.date() - dt.timedelta(days=1),
        ran_at=store.context.ticks.next(),
        missed=missed,
        ttl=int((now + RUNS_KEPT).timestamp()),
    )
    failed: list[_File] = []
    try:
        before = (now - _SETTLED).date()
        folders = _folders(objects, prefix, before=before)
        for date, files in sorted(folders.items()):
            failed += _clean(store, objects, run, date, files)
        if run.date < before:
            # Records of older days have ended.
            run.expired = _expire_lost(store, objects, run.date, {file.key for file in folders.get(run.date, ())})
        _record(store, run, failed)
    except Exception as error:
        log.error("Cleanup worker failed: %s", error)
        raise
    log.info("Deleted: %d, Failed: %d", run.deleted, run.failed)
    return run


def query_temp_audio_by_date(store: Store, date: dt.date) -> Iterator[TempAudio]:
    """The audios made on a day that are not past their 24 hours, page after page."""
    return store.find(TempAudio.of_date(date=date))


def expire(store: Store, audio: TempAudio, why: str, *, by: str) -> None:
    """Have a record say that its file is not to be heard any more, though the record has not ended."""
    with store.change(by=by) as change:
        change.track(audio)
        audio.status, audio.error_message = AudioStatus.EXPIRED, why
        change.save(audio)


def delete_s3_file(objects: Objects, s3_key: str) -> None:
    """Delete one file; one that is not there is deleted already."""
    objects.delete([s3_key])


@dataclass(frozen=True, slots=True)
class _File:
    """A file of ours, where it lies now: in its folder, or in the trash."""

    place: str
    key: str
    date: dt.date
    audio_id: str


def _folders(objects: Objects, prefix: str, *, before: dt.date) -> dict[dt.date, list[_File]]:
    """The files of past days, by their day."""
    ours, fields = audio_file(prefix), TempAudio.__shape__.fields
    found: dict[dt.date, list[_File]] = {}
    # What the sweep finds without a record it keeps in the trash for a week; guests are promised less.
    for each in chain(every(objects, f"{prefix}/"), every(objects, TRASH)):
        key = each.key.removeprefix(TRASH).partition("/")[2] if each.key.startswith(TRASH) else each.key
        told = ours.read(key, fields)
        if told is not None and told["date"] < before:
            file = _File(each.key, key, told["date"], str(told["audio_id"]))
            found.setdefault(file.date, []).append(file)
    return found


def _clean(store: Store, objects: Objects, run: CleanupRun, date: dt.date, files: list[_File]) -> list[_File]:
    """Delete what a folder need not hold any more; what could not be deleted."""
    # Asked after the listing, so that a file is either not listed or known.
    promised = {audio.s3_key for audio in query_temp_audio_by_date(store, date) if audio.audible}
    over = [file for file in files if file.key not in promised]
    failed = _delete(objects, over)
    _give_back(store, over, failed)
    counts = {"deleted": len(over) - len(failed), "failed": len(failed), "kept": len(files) - len(over)}
    run.folders[date.isoformat()] = counts
    run.deleted += counts["deleted"]
    run.failed += counts["failed"]
    run.kept += counts["kept"]
    log.info("%s: Deleted: %d, Failed: %d", date, counts["deleted"], counts["failed"])
    return failed


def _expire_lost(store: Store, objects: Objects, date: dt.date, listed: set[str]) -> int:
    """Tell of the records of a day whose files are gone before them: by hand, or by a rule of the bucket's."""
    expired = 0
    for audio in query_temp_audio_by_date(store, date):
        if audio.audible and audio.s3_key not in listed and not _is_there(objects, audio.file):
            log.warning("the file of %s is gone before its record", audio.audio_id)
            with suppress(Conflict):  # it is being erased
                expire(store, audio, "its file is gone", by=WORKER)
                expired += 1
    return expired


def _is_there(objects: Objects, s3_key: str) -> bool:
    """Does a file lie where no listing has shown it, as in the folder of an earlier setting?"""
    try:
        objects.head(s3_key)
    except NotFound:
        return False
    return True


def _give_back(store: Store, over: list[_File], failed: list[_File]) -> None:
    """Let guests have the room of files that are gone."""
    stuck = {file.place for file in failed}
    try:
        settle_many(store, [audio_hold(file.audio_id) for file in over if file.place not in stuck])
    except PenstockError:
        log.exception("the room of files that are gone comes back some days later")


def _delete(objects: Objects, files: Iterable[_File]) -> list[_File]:
    """Delete files, many at once; if some of them refuse, each by itself. Those that could not be deleted."""
    failed: list[_File] = []
    left = iter(files)
    while some := list(islice(left, _AT_ONCE)):
        try:
            objects.delete([file.place for file in some])
        except Exception as error:
            stuck = [file for file in some if not _deleted(objects, file)]
            if len(stuck) == len(some) and outage_in(error) is not None:
                raise  # all of them are away, and waited for
            failed += stuck
    return failed


def _deleted(objects: Objects, file: _File) -> bool:
    try:
        delete_s3_file(objects, file.place)
    except Exception as error:
        log.error("Failed to delete %s: %s", file.audio_id, error)
        return False
    return True


def _record(store: Store, run: CleanupRun, failed: list[_File]) -> None:
    """Write down what the run did, and tell it."""
    with store.change(by=WORKER) as change:
        change.create(run)
        change.emit(CLEANED, run, deleted=run.deleted, failed=run.failed, kept=run.kept, expired=run.expired)
        if failed:
            named = [file.audio_id for file in failed[:_NAMED]]
            change.emit(INCOMPLETE, run, deleted=run.deleted, failed=run.failed, audio_ids=named)
        if run.missed:
            log.warning("task missed: %d runs before this one", run.missed)
            change.emit(MISSED, run, missed=run.missed)
