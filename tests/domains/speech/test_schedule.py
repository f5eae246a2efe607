"""When the cleanup runs, and who hears of it when it does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from celery.beat import Scheduler as Beat

from penstock import FrozenClock
from penstock.domains.speech import PLUGIN
from penstock.domains.speech.model import CleanupRun
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.errors import Misconfigured
from penstock.events.schedule import Schedule, Scheduler, overdue
from penstock.plugin import own_settings
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.work.domain_context import DomainContext
from penstock.workers.celery import Cron
from tests.domains.speech.faults import Failing, always
from tests.domains.speech.story import alerts, at, files, moment, spoken


@dataclass
class Deployment:
    """A studio and its scheduler."""

    studio: SpeechStudio
    settings: Mapping[str, str]
    objects: Any = None

    @property
    def schedules(self) -> list[Schedule]:
        assert PLUGIN.schedules is not None
        context = DomainContext(
            self.studio.store, self.objects or self.studio.objects, own_settings([PLUGIN], self.settings)
        )
        return list(PLUGIN.schedules(context))

    def tick(self, when: str) -> list[str]:
        """What becomes of what is due at a moment."""
        at(self.studio, when)
        return [run.outcome for run in Scheduler(self.studio.store, self.schedules, owner="scheduler").run_due()]

    def runs(self) -> Iterator[CleanupRun]:
        for day in range(6, 14):
            yield from self.studio.store.find(CleanupRun.of_date(date=moment(f"12-{day:02d} 00:00:00").date()))


@pytest.fixture
def deployment(studio: SpeechStudio) -> Deployment:
    return Deployment(studio, {})


def test_daily_at_noon(deployment: Deployment) -> None:
    """TA-11: under the plan's name, at 12:00 UTC, not a second before, once a day."""
    (schedule,) = deployment.schedules
    assert (schedule.name, schedule.cron) == ("cleanup-temp-audio-daily", "0 12 * * *")
    spoken(deployment.studio, "12-08 06:00:00")
    assert deployment.tick("12-09 00:30:00") == []
    assert deployment.tick("12-09 11:59:59") == []
    assert deployment.tick("12-09 12:00:00") == ["done"]
    assert deployment.tick("12-09 12:00:15") == []
    assert files(deployment.studio.objects) == set()
    assert [run.deleted for run in deployment.runs()] == [1]


def test_at_another_hour(studio: SpeechStudio) -> None:
    """TA-23, F-TA-7: the hour and the minute of the settings are used."""
    chosen = {"CELERY_BEAT_SCHEDULE_CLEANUP_HOUR": "3", "CELERY_BEAT_SCHEDULE_CLEANUP_MINUTE": "5"}
    deployment = Deployment(studio, chosen)
    deployment.tick("12-09 00:00:00")
    assert deployment.tick("12-09 03:04:59") == []
    assert deployment.tick("12-09 03:05:00") == ["done"]
    with pytest.raises(Misconfigured, match="CLEANUP_HOUR='24'"):
        _ = Deployment(studio, {"CELERY_BEAT_SCHEDULE_CLEANUP_HOUR": "24"}).schedules


@pytest.mark.parametrize(("zone", "fits"), [("UTC", True), ("Etc/UTC", True), ("Asia/Kolkata", False)])
def test_the_hour_is_in_utc(studio: SpeechStudio, zone: str, fits: bool) -> None:
    """TA-23, F-TA-7: CELERY_TIMEZONE cannot move the cleanup without a word."""
    deployment = Deployment(studio, {"CELERY_TIMEZONE": zone})
    if fits:
        assert [s.cron for s in deployment.schedules] == ["0 12 * * *"]
        return
    with pytest.raises(Misconfigured, match="CELERY_TIMEZONE='Asia/Kolkata' is not UTC: the cleanup's hour is in UTC"):
        _ = deployment.schedules


def test_the_entry_of_celery_beat(tmp_path: Path) -> None:
    """TA-11, F-TA-7: under the plan's name, at noon in UTC, on the queue `celery`; one entry, and no other."""
    settings = Settings(store=f"sqlite:///{tmp_path}/s.db", objects=f"files:///{tmp_path}/o", broker="memory://")
    app = Service(settings, [PLUGIN]).celery().app()
    assert (app.conf.timezone, app.conf.enable_utc) == ("UTC", True)
    beat = Beat(app)
    entries = {name: entry for name, entry in beat.schedule.items() if not name.startswith("celery.")}
    assert list(entries) == ["cleanup-temp-audio-daily"]
    assert entries["cleanup-temp-audio-daily"].schedule == Cron("0 12 * * *")
    beat.apply_async(entries["cleanup-temp-audio-daily"])
    with app.connection_for_read() as connection:
        told = connection.default_channel.basic_get("celery", no_ack=True)
        assert told is not None, "the queue has it"
        assert told.headers["task"] == "app.workers.cleanup.cleanup_yesterday_temp_audio"
        assert told.headers["task"] in app.tasks
        assert connection.default_channel.basic_get("celery", no_ack=True) is None


def test_a_run_that_fails_is_told_and_tried_again(deployment: Deployment) -> None:
    """TA-17, F-TA-10: nothing is caught on the way to the alert; the next try does the work."""
    spoken(deployment.studio, "12-08 06:00:00")
    deployment.tick("12-09 01:00:00")
    deployment.objects = Failing(deployment.studio.objects, list=always)
    assert deployment.tick("12-09 12:00:00") == ["failed"]
    ((kind, told),) = alerts(deployment.studio.store)
    assert kind == "schedule.failed"
    assert "list is refused" in told["error"]
    deployment.objects = None
    assert deployment.tick("12-09 12:00:15") == ["done"]
    assert files(deployment.studio.objects) == set()


def test_a_run_that_fails_for_long_is_overdue(deployment: Deployment, clock: FrozenClock) -> None:
    """TA-21, F-TA-4: after 25 hours without a success others are told, once."""
    deployment.tick("12-08 11:00:00")
    assert deployment.tick("12-08 12:00:00") == ["done"]
    deployment.objects = Failing(deployment.studio.objects, list=always)
    deployment.tick("12-09 12:00:00")
    assert overdue(deployment.studio.store, deployment.schedules) == []
    deployment.tick("12-09 13:00:01")
    deployment.tick("12-09 13:00:15")
    assert overdue(deployment.studio.store, deployment.schedules) == ["cleanup-temp-audio-daily"]
    assert [kind for kind, _ in alerts(deployment.studio.store)].count("schedule.overdue") == 1


def test_nothing_runs_for_three_days(deployment: Deployment, caplog: pytest.LogCaptureFixture) -> None:
    """TA-21, F-TA-4: a health check sees it meanwhile; then one run does it all, and tells that runs were missed."""
    store = deployment.studio.store
    deployment.tick("12-07 12:00:00")
    assert deployment.tick("12-08 12:00:00") == ["done"]
    old = [spoken(deployment.studio, f"12-{day} 15:00:00") for day in ("08", "09", "10")]
    young = spoken(deployment.studio, "12-11 18:00:00")
    at(deployment.studio, "12-12 12:00:00")
    assert overdue(store, deployment.schedules) == ["cleanup-temp-audio-daily"]
    assert all(store.lookup(audio.ref) is None for audio in old), "records end by themselves"
    assert len(files(deployment.studio.objects)) == 4, "files do not"
    assert deployment.tick("12-12 12:00:00") == ["done"]
    assert files(deployment.studio.objects) == {young.s3_key}
    assert [(kind, told["missed"]) for kind, told in alerts(store)] == [("temp_audio.cleanup_missed", 3)]
    assert "task missed" in caplog.text


def test_no_alert_when_all_is_well(deployment: Deployment) -> None:
    """TA-17, TA-21, TA-22: an alert that comes every day is none."""
    deployment.tick("12-07 13:00:00")
    spoken(deployment.studio, "12-08 06:00:00")
    for day in ("08", "09", "10"):
        assert deployment.tick(f"12-{day} 12:00:00") == ["done"]
    assert alerts(deployment.studio.store) == []


def test_two_schedulers_run_it_once(studio: SpeechStudio) -> None:
    """TA-11: however many processes there are."""
    one, other = Deployment(studio, {}), Deployment(studio, {})
    one.tick("12-09 01:00:00")
    assert [*one.tick("12-09 12:00:00"), *other.tick("12-09 12:00:00")] == ["done"]
    assert len(list(one.runs())) == 1
