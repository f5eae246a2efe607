"""A file over which workers have died is refused and goes; whoever has it looked at again is told to send it."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import FrozenClock
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.tasks import TASKS
from penstock.domains.musicvideo.uploading import Sent
from penstock.errors import NotFound
from penstock.files.upload import UploadStatus
from penstock.work.dead_letters import retry
from tests.domains.musicvideo.quick_providers import film
from tests.domains.musicvideo.story import ANN, arrived, begun
from tests.work.dying import died_over


def test_a_track_over_which_workers_died_is_to_be_sent_again(
    studio: FilmStudio, tmp_path: Path, clock: FrozenClock
) -> None:
    track = film(1.0, audio=True)
    upload = arrived(studio, begun(studio, tmp_path), Sent.AUDIO, track, content_type="audio/mpeg")
    letter = died_over(studio.store, TASKS, clock)
    assert studio.store.get(upload.ref).status is UploadStatus.REFUSED
    with pytest.raises(NotFound, match=r"waits no longer.*have it sent again, and cancel this task"):
        retry(studio.store, [TASKS], letter.task_id, by=ANN)
