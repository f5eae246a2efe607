"""The documents' PynamoDB snippets, run against the table the service wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock import Store
from penstock.domains.musicvideo import projects
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.options import MusicVideoOptions
from penstock.objects import LocalObjects
from penstock.work.working import WORKING
from tests.domains.musicvideo.documents import MVProjectItem
from tests.domains.musicvideo.quick_providers import QuickProviders
from tests.domains.musicvideo.story import ANN, begun, generated, workers


@pytest.fixture
def items(dynamo: Store, dynamo_url: str) -> type[MVProjectItem]:
    """The documents' model, on the server the store is on."""
    MVProjectItem.Meta.host = dynamo_url
    MVProjectItem._connection = None
    return MVProjectItem


def test_the_snippets_find_what_the_pipeline_wrote(
    dynamo: Store,
    items: type[MVProjectItem],
    local: LocalObjects,
    quick: QuickProviders,
    tmp_path: Path,
    raw_table: Any,
) -> None:
    """MV-1…MV-5, MV-9, MV-38…MV-42, MV-45, MV-60: the project, its scenes in order, the projects by status."""
    dynamo.ensure(WORKING)
    studio = FilmStudio(dynamo, local, quick.providers(), MusicVideoOptions(scenes=3, scene_seconds=0.5))
    project = generated(studio, tmp_path)
    projects.compose(studio, project.project_id, by=ANN)
    workers(studio).drain()
    waiting = begun(studio, tmp_path)

    partition = f"PROJECT#{project.project_id}"
    got = items.get(partition, "METADATA")
    assert (got.status, got.sceneCount, got.completedScenes, got.failedScenes) == ("completed", 3, 3, 0)
    scenes = list(items.query(partition, items.SK.startswith("SCENE#")))
    assert [(s.SK, s.status) for s in scenes] == [(f"SCENE#{n:03d}", "completed") for n in (1, 2, 3)]
    assert not any(s.GSI1PK for s in scenes)
    assert [p.projectId for p in items.status_index.query("completed")] == [str(project.project_id)]
    newest = items.status_index.query("pending", scan_index_forward=False)
    assert [p.projectId for p in newest] == [str(waiting.project_id)]

    stored = raw_table("MVProjects").scan()["Items"]
    assert not any("://" in str(value) or "X-Amz" in str(value) for item in stored for value in item.values())
