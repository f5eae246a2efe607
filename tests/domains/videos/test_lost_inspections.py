"""A file over which workers have died is refused; whoever finds the reason has it looked at again."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import FrozenClock
from penstock.domains.videos.model import SubmissionStatus, Video
from penstock.domains.videos.submissions import TASKS
from penstock.domains.videos.video_library import VideoLibrary
from penstock.errors import NotFound
from penstock.files.intake import Intake
from penstock.files.upload import Upload
from penstock.work.dead_letters import DeadLetters, retry
from tests.domains.videos.story import seen, settle, submitted
from tests.work.dying import died_over


def test_a_film_over_which_workers_died_is_looked_at_again_when_its_letter_is_revived(
    anywhere: VideoLibrary, film: Path, clock: FrozenClock
) -> None:
    sent = submitted(anywhere, film)
    letter = died_over(anywhere.store, TASKS, clock)
    refused = seen(anywhere, sent.video_id)
    assert (letter.error_class, refused.status) == ("WorkerLost", SubmissionStatus.REFUSED)
    retry(anywhere.store, [TASKS], letter.task_id, by="ann")
    again = seen(anywhere, sent.video_id)
    assert (again.status, again.error) == (SubmissionStatus.ARRIVED, None)
    settle(anywhere)
    assert seen(anywhere, sent.video_id).status is SubmissionStatus.ACCEPTED
    assert anywhere.store.get(Video.at(video_id=sent.video_id)).source_s3_key is not None


def test_one_whose_file_is_gone_is_not_looked_at_again_and_says_what_to_do(
    library: VideoLibrary, film: Path, clock: FrozenClock
) -> None:
    sent = submitted(library, film)
    letter = died_over(library.store, TASKS, clock)
    upload = library.store.get(Upload.at(upload_id=sent.upload_id))
    Intake(library.store, library.objects).refuse(upload, error="nobody could look at it", by="ann")
    with pytest.raises(NotFound, match=r"waits no longer \(refused\).*sent again"):
        retry(library.store, [TASKS], letter.task_id, by="ann")
    assert seen(library, sent.video_id).status is SubmissionStatus.REFUSED
    assert list(DeadLetters().find(library.store)) == [letter]
