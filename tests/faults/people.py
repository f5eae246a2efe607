"""The people of the five systems: what each wants is asked for once, whoever dies while asking, and seen to its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

from penstock.domains import INSTALLED
from penstock.domains.assetcreator import creative_projects, jobs
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.jobs import NewJob
from penstock.domains.assetcreator.model import Job
from penstock.domains.assetcreator.orders import Prompt, Request
from penstock.domains.assetcreator.stages import AssetType, Status, StepName
from penstock.domains.musicvideo import projects
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project, ProjectStatus
from penstock.domains.musicvideo.projects import NewProject
from penstock.domains.novae import initializing
from penstock.domains.novae.model import JobRun, NameRun
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.run_records import WorkflowRun
from penstock.domains.novae.states import RunStatus
from penstock.domains.speech.model import SpeechJob, SpeechJobStatus
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.domains.speech.tasks import request_job
from penstock.domains.videos import submissions, video_removal, view_counting
from penstock.domains.videos.model import Submission, SubmissionStatus, Video, VideoStatus
from penstock.domains.videos.submissions import NewVideo
from penstock.domains.videos.video_library import VideoLibrary
from penstock.errors import Conflict, IllegalMove, InvalidValue, NotFound, Unavailable
from penstock.kernel.idempotency import Claim, SystemOnce, begin, once_key
from penstock.kernel.record_name import name_of
from penstock.work.dead_letters import DeadLetters, cancel, retry
from penstock.work.domain_context import DomainContext
from penstock.work.registry import Tasks
from tests.domains.assetcreator.story import approve, reject
from tests.domains.musicvideo.quick_providers import film
from tests.domains.musicvideo.story import audio
from tests.faults.five_systems import BEGUN, CLOSED, NO_MORE, PAUSE, PERIOD, Tick, note, noted

ANN = "ann"
AT_ONCE = 6
"Stories that are under way at a time."
TASKS: list[Tasks] = [plugin.tasks for plugin in INSTALLED if plugin.tasks is not None]


class Told:
    """What is asked for once, in a system."""

    def __init__(self, context: DomainContext, folder: str) -> None:
        self.context, self.store, self.folder = context, context.store, Path(folder)

    def once(self, what: str, act: Callable[[Claim], object]) -> dict[str, Any]:
        """Do something that may have been done before, perhaps by one who died; what came of it."""
        now = self.store.clock.now()
        mark = SystemOnce(idempotency_key=once_key(what), created_at=now, ttl=int(now.timestamp()) + 10**6)
        claim = begin(self.store, mark, owner=ANN, period=PERIOD)
        if isinstance(claim, Claim):
            act(claim)
            claim = begin(self.store, mark, owner=ANN, period=PERIOD)
        assert not isinstance(claim, Claim)
        return claim.result or {}


class Story(Protocol):
    """Something that people want of a system."""

    def __init__(self, told: Told, number: int) -> None: ...

    def go_on(self) -> bool:
        """Do what is next; True when all of it is done."""
        ...


class Speech:
    """A text is spoken."""

    def __init__(self, told: Told, number: int) -> None:
        self._told, self._number = told, number
        self.studio = SpeechStudio.within(told.context)

    def job(self) -> SpeechJob:
        address = f"10.{self._number // 250}.{self._number % 250}.1"
        asked = self._told.once(
            f"speech {self._number}",
            lambda claim: request_job(self.studio, f"Number {self._number}.", ip_address=address, once=claim),
        )
        return self._told.store.get(SpeechJob.at(date=date.fromisoformat(asked["date"]), job_id=UUID(asked["job_id"])))

    def go_on(self) -> bool:
        return self.job().status is SpeechJobStatus.COMPLETED


class Film:
    """A music video is generated and composed."""

    def __init__(self, told: Told, number: int) -> None:
        self._told, self._number = told, number
        self.studio = FilmStudio.within(told.context)

    def project(self) -> Project:
        def create(claim: Claim) -> None:
            wanted = NewProject(
                mode="music-video",
                prompt=f"Robot {self._number}",
                character_description="Silver",
                audio=audio(self._told.folder),
            )
            projects.create_project(replace(self.studio, once=claim), wanted, by=ANN)

        project_id = UUID(self._told.once(f"film {self._number}", create)["project_id"])
        self._told.once(f"film {self._number} generated", lambda claim: self._generate(claim, project_id))
        return self._told.store.get(Project.at(project_id=project_id))

    def _generate(self, claim: Claim, project_id: UUID) -> None:
        projects.generate(replace(self.studio, once=claim), project_id, scenes=2, by=ANN)

    def go_on(self) -> bool:
        project = self.project()
        if project.status is ProjectStatus.PROCESSING and project.completed_scenes == project.scene_count:
            projects.compose(self.studio, project.project_id, by=ANN)
        return project.status is ProjectStatus.COMPLETED


class Asset:
    """An asset is drawn, rejected, drawn again and exported."""

    def __init__(self, told: Told, number: int) -> None:
        self._told, self._number = told, number
        self.studio = AssetStudio.within(told.context)

    def job(self) -> Job:
        def project(claim: Claim) -> None:
            studio = replace(self.studio, once=claim)
            creative_projects.begin_project(studio, f"Robots {self._number}", style_profile={}, gates=None, by=ANN)

        def ask(claim: Claim) -> None:
            wanted = NewJob(begun["project_id"], AssetType.SPRITE_2D, Request(prompt=Prompt(core_concept="Ranger")))
            jobs.ask(replace(self.studio, once=claim), wanted, by=ANN)

        begun = self._told.once(f"asset project {self._number}", project)
        return jobs.find_job(self._told.store, self._told.once(f"asset {self._number}", ask)["job_id"])

    def go_on(self) -> bool:
        job = self.job()
        waiting = jobs.see_job(self._told.store, job.job_id).current()
        if waiting is not None:
            sent_back = waiting.step_name is StepName.REFINE and waiting.round == 1
            reject(self.studio, job, notes="longer") if sent_back else approve(self.studio, job)
        return job.status is Status.DONE


class Clip:
    """A video is sent, encoded and seen twice; every other one is removed in the end."""

    def __init__(self, told: Told, number: int) -> None:
        self._told, self._number = told, number
        self.library, self.is_removed = VideoLibrary.within(told.context), number % 2 == 0

    def video_id(self) -> UUID:
        def submit(claim: Claim) -> None:
            wanted = NewVideo(
                user_id="ann", title=f"Clip {self._number}", size=len(film()), content_type="video/mp4", category="c"
            )
            submissions.submit(replace(self.library, once=claim), wanted, by=ANN)

        return UUID(self._told.once(f"clip {self._number}, {len(self._refused())}", submit)["video_id"])

    def _refused(self) -> list[str]:
        """Those that were refused, and are not to be looked at again: then people send it again."""
        return noted(str(self._told.folder), f"refused-{self._number}")

    def _is_given_up(self, video_id: UUID) -> bool:
        """Or is it only that too many died who looked at it? Then the task is tried again, and nothing is sent."""
        about = name_of(Submission.at(video_id=video_id))
        return all(dead.about != about for dead in DeadLetters().find(self._told.store))

    def go_on(self) -> bool:
        video_id, store = self.video_id(), self._told.store
        if (self._told.folder / f"removed-{self._number}").exists():
            return store.lookup(Video.at(video_id=video_id)) is None or self._remove(video_id)
        submission = store.get(Submission.at(video_id=video_id))
        if submission.status is SubmissionStatus.REFUSED:
            if self._is_given_up(video_id):
                note(str(self._told.folder), f"refused-{self._number}", str(video_id))
            return False
        if submission.status is SubmissionStatus.AWAITED:
            self._send(video_id)
        video = store.lookup(Video.at(video_id=video_id))
        if video is None or video.status is not VideoStatus.READY or video.thumbnail_s3_key is None:
            return False
        for request in ("first", "second", "first"):
            view_counting.count_view(self.library, video_id, request_id=request)
        return self._remove(video_id) if self.is_removed else True

    def _send(self, video_id: UUID) -> None:
        where = submissions.submission_of(self.library, video_id).where
        if where is not None:
            self.library.objects.put(where.upload.staging, film())
            submissions.complete(self.library, video_id, sha256=sha256(film()).hexdigest(), by=ANN)

    def _remove(self, video_id: UUID) -> bool:
        (self._told.folder / f"removed-{self._number}").touch()
        with suppress(NotFound):
            video_removal.delete_video(self.library, video_id, by=ANN)
        return True


class NewNova:
    """A name becomes a nova with its papers."""

    def __init__(self, told: Told, number: int) -> None:
        self._told, self._number = told, number
        self.catalogue, self.name = NovaCatalogue.within(told.context), f"Nova Number {number}"

    def runs(self) -> list[NameRun]:
        return list(self._told.store.find(NameRun.of_name(normalized_name=self.name.lower())))

    def children(self) -> list[JobRun]:
        found = {run.nova_id for run in self.runs() if run.nova_id is not None}
        return [run for nova_id in found for run in self._told.store.find(JobRun.of_nova(nova_id=nova_id))]

    def go_on(self) -> bool:
        # Without a claim: a run answers every request for its name, until it has failed.
        runs = [*self.runs(), *self.children()]
        if any(run.status is RunStatus.RUNNING for run in runs):
            return False
        if not runs or any(run.status is RunStatus.FAILED for run in newest(runs)):
            initializing.initialize(self.catalogue, self.name, by=ANN)
            return False
        return len(runs) > 1


def newest(runs: Sequence[WorkflowRun]) -> list[WorkflowRun]:
    """The last run of each workflow."""
    in_order = sorted(runs, key=lambda run: run.started_at)
    return list({run.workflow_name: run for run in in_order}.values())


KINDS: Mapping[int, type[Story]] = dict(enumerate((Speech, Asset, Clip, Film, NewNova)))


def story(told: Told, number: int) -> Story:
    return KINDS[number % len(KINDS)](told, number)


def live_stories(context: DomainContext, name: str, folder: str, tick: Tick) -> None:
    """Ask, and decide, until somebody puts an end to it."""
    told = Told(context, folder)
    stories: dict[int, Story] = {}
    while True:
        closed, begun = ({int(n) for n in noted(folder, file)} for file in (CLOSED, BEGUN))
        open_now = sorted(begun - closed)
        if len(open_now) < AT_ONCE and not noted(folder, NO_MORE):
            open_now.append(max(begun, default=-1) + 1)
            note(folder, BEGUN, str(open_now[-1]))
        for number in open_now:
            try:
                if stories.setdefault(number, story(told, number)).go_on():
                    note(folder, CLOSED, str(number))
            except (Conflict, InvalidValue, Unavailable):
                tick("waits")  # one who died has just asked, or another has decided
        _try_again(told)
        tick("looks")
        time.sleep(PAUSE)


def _try_again(told: Told) -> None:
    """Tasks whose workers were killed once too often; where a job that has failed stays so, another is begun."""
    for dead in DeadLetters().find(told.store):
        with suppress(Conflict):
            try:
                retry(told.store, TASKS, dead.task_id, by=ANN, why="its workers were killed")
            except IllegalMove:
                cancel(told.store, TASKS, dead.task_id, by=ANN, why="another is begun")
