"""The cleanup under Celery's own commands, as the page has them, with a real broker."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from celery.beat import PersistentScheduler

from penstock import Store, open_store
from penstock.domains.speech import PLUGIN
from penstock.domains.speech.cleanup import SCHEDULE
from penstock.domains.speech.model import CleanupRun, audio_s3_key
from penstock.errors import DeclarationError
from penstock.events.schedule import Schedule, ScheduleState
from penstock.runtime.composition import open_objects
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.work import WORKING
from penstock.work.domain_context import DomainContext
from penstock.workers.celery import celery_app
from tests.domains.speech.faults import Failing, always
from tests.domains.speech.story import files, unset
from tests.servers import Valkey
from tests.work.soon import soon

PAGE = Path(__file__).parents[3] / "docs" / "speech.md"
COMMANDS = re.findall(r"^\$ (celery .*)$", PAGE.read_text(), re.MULTILINE)
TASK, OTHER = "app.workers.cleanup.cleanup_yesterday_temp_audio", "app.celery_worker.cleanup_yesterday_temp_audio"


class Deployment:
    """A store, files and a broker, and the commands that are running on them."""

    def __init__(self, folder: Path, broker: Valkey) -> None:
        broker.flush()
        self.folder = folder
        self.settings = Settings(
            store=f"sqlite:///{folder}/speech.db", objects=f"files:///{folder}/files", broker=broker.url
        )
        self.store: Store = open_store(self.settings.store)
        self.store.ensure(PLUGIN.domain, WORKING)
        self.objects = open_objects(self.settings.objects)
        self.app: Any = Service(self.settings, [PLUGIN]).celery().app()

    @contextmanager
    def running(self, command: str) -> Iterator[Path]:
        """One of the commands; what it writes is in the file."""
        words = shlex.split(command)
        log = self.folder / f"{words[3]}.log"
        told = {name: getattr(self.settings, name) for name in ("store", "objects", "broker")}
        env = {**os.environ, **{f"PENSTOCK_{name.upper()}": value for name, value in told.items()}}
        with log.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=self.folder,
                env={**env, "PENSTOCK_DOMAINS": "speech"},
                stdout=out,
                stderr=out,
            )
            try:
                yield log
            finally:
                process.terminate()
                process.wait(30)

    def absent_for(self, time: timedelta) -> None:
        """Make it so that nothing has run for this long: neither beat's own memory nor ours knows of a run."""
        entries = PersistentScheduler(self.app, schedule_filename=str(self.folder / "celerybeat-schedule"))
        entries.schedule[SCHEDULE].last_run_at -= time
        entries.close()
        self.store.put(ScheduleState(name=SCHEDULE, first_seen_at=self.store.clock.now() - time))

    def old_file(self) -> None:
        """A file of three days ago."""
        day = self.store.clock.now().date() - timedelta(days=3)
        self.objects.put(audio_s3_key(day, uuid4()), b"RIFF")

    def runs(self) -> list[CleanupRun]:
        days = [self.store.clock.now().date() - timedelta(days=age) for age in range(3)]
        return [run for day in days for run in self.store.find(CleanupRun.of_date(date=day))]


@pytest.fixture
def deployment(tmp_path: Path, valkey_server: Valkey) -> Iterator[Deployment]:
    found = Deployment(tmp_path, valkey_server)
    yield found
    found.store.close()


def test_beat_and_worker_clean_up_under_the_name_of_the_plan(deployment: Deployment) -> None:
    """TA-11, F-TA-7: by the commands of the page, on the queue `celery`; and under the plan's other spelling, too."""
    assert [shlex.split(c)[3] for c in COMMANDS] == ["worker", "beat"]
    deployment.old_file()
    deployment.absent_for(timedelta(days=2))
    with ExitStack() as stack:
        worker, beat = (stack.enter_context(deployment.running(command)) for command in COMMANDS)
        soon(lambda: f"Task {TASK}" in worker.read_text() and "succeeded" in worker.read_text(), seconds=90)
        assert f"Sending due task {SCHEDULE} ({TASK})" in beat.read_text()
        assert f"Task {TASK}[" in worker.read_text()
        assert [run.deleted for run in deployment.runs()] == [1]
        assert files(deployment.objects) == set()

        deployment.old_file()
        deployment.app.send_task(OTHER, queue="celery")
        soon(lambda: len(deployment.runs()) == 2, seconds=30)
        assert [run.deleted for run in deployment.runs()] == [1, 1]
        soon(lambda: worker.read_text().count("succeeded") == 2, seconds=30)
        assert f"Task {OTHER}[" in worker.read_text()


def test_the_task_is_sent_to_the_queue_and_runs_once_a_period(deployment: Deployment) -> None:
    """TA-11: what beat sends runs what is due, and only that; what anybody sends runs at once."""
    entry = deployment.app.conf.beat_schedule[SCHEDULE]
    assert (entry["task"], entry["options"]) == (TASK, {"queue": "celery"})
    for name in (TASK, OTHER):
        assert deployment.app.tasks[name].name == name
    deployment.absent_for(timedelta(days=2))
    for _ in range(2):
        deployment.app.tasks[TASK](**entry["kwargs"])
    assert len(deployment.runs()) == 1
    deployment.app.tasks[TASK]()
    assert len(deployment.runs()) == 2


def test_a_cleanup_that_fails_fails_its_task(deployment: Deployment) -> None:
    """TA-17: whoever sent it is told."""
    objects: Any = Failing(deployment.objects, list=always)
    assert PLUGIN.schedules is not None
    schedules = PLUGIN.schedules(DomainContext(deployment.store, objects, unset))
    app = celery_app(deployment.store, [], broker="memory://", schedules=schedules)
    with pytest.raises(RuntimeError, match="cleanup-temp-audio-daily failed: Unavailable: list is refused"):
        app.tasks[OTHER]()
    assert deployment.runs() == []


def test_two_schedules_have_no_task_in_common(deployment: Deployment) -> None:
    both = [Schedule(name, "0 1 * * *", lambda period: None, task_names=("app.clean",)) for name in ("one", "two")]
    with pytest.raises(DeclarationError, match=r"schedule two: its task app\.clean is also another's"):
        celery_app(deployment.store, [], broker="memory://", schedules=both)


def test_celery_without_a_broker_says_what_to_set(tmp_path: Path) -> None:
    """No traceback, which would not."""
    command = [sys.executable, "-m", *shlex.split(COMMANDS[0])]
    env = {k: v for k, v in os.environ.items() if k != "PENSTOCK_BROKER"}
    told = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert told.stderr == "Error: Celery needs a broker; set PENSTOCK_BROKER=redis://HOST:PORT/0\n"
