"""What people do with the API in these tests: begin a project, ask, look, decide."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from PIL import Image
from starlette.testclient import TestClient

from penstock.auth.api_keys import create_key
from penstock.domains.assetcreator import PLUGIN
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.work.domain_context import DomainContext
from tests.domains.assetcreator.story import work
from tests.web.client import Client

ROBOT = "Space ranger robot with a red scarf"
HERE = "http://127.0.0.1:1"
"Where signed URLs lead in these tests."


def service(studio: AssetStudio, settings: Mapping[str, str] | None = None, **options: Any) -> Any:
    """The whole service on a studio's store and files."""
    context = DomainContext(studio.store, studio.objects, (settings or {}).get, studio.archive)
    return build_api([PLUGIN], context, options=WebOptions(secret=b"of the tests", strict_claims=True, **options))


def client_of(api: Any, studio: AssetStudio, role: Role, project: str | None = None) -> TestClient:
    key = create_key(studio.store, name=f"{role.value} {project or ''}".strip(), role=role, project=project, by="tests")
    headers = {"Authorization": f"Bearer {key.token}"}
    return Client(api, base_url="http://127.0.0.1", headers=headers, raise_server_exceptions=False)


def told(answer: Any, status: int = 200) -> dict[str, Any]:
    """What an answer of some status says."""
    assert answer.status_code == status, answer.text
    said: dict[str, Any] = answer.json()
    return said


def begun(client: TestClient, **more: Any) -> str:
    """A new project."""
    return str(told(client.post("/api/ac/projects", json={"name": "Robots", **more}), 201)["project_id"])


def wanted(project: str, concept: str = ROBOT, **more: Any) -> dict[str, Any]:
    """The body that asks for an asset."""
    return {"project_id": project, "asset_type": "3D_CHARACTER", "prompt": {"core_concept": concept}, **more}


def asked(client: TestClient, project: str, concept: str = ROBOT, **more: Any) -> dict[str, Any]:
    """A new job."""
    return told(client.post("/api/ac/jobs", json=wanted(project, concept, **more)), 201)


def seen(client: TestClient, job: str) -> dict[str, Any]:
    """A job as it is now."""
    return told(client.get(f"/api/ac/jobs/{job}"))


def decision(client: TestClient, job: str, word: str = "approved", **more: Any) -> dict[str, Any]:
    """The body that decides about what waits."""
    review = seen(client, job)["review"]
    checksums = {file["name"]: file["sha256"] for file in review["artifacts"]}
    return {"decision": word, "round": review["round"], "checksums": checksums, **more}


def decided(client: TestClient, job: str, word: str = "approved", **more: Any) -> dict[str, Any]:
    return told(client.post(f"/api/ac/jobs/{job}/review", json=decision(client, job, word, **more)))


def finished(client: TestClient, studio: AssetStudio, job: str) -> dict[str, Any]:
    """A job whose every gate somebody was content at."""
    work(studio)
    while seen(client, job)["review"] is not None:
        decided(client, job)
        work(studio)
    return seen(client, job)


def picture() -> bytes:
    """A small picture of nothing."""
    drawn = BytesIO()
    Image.new("RGB", (32, 32), "#d04a2f").save(drawn, "png")
    return drawn.getvalue()


def runs(job: dict[str, Any]) -> list[tuple[str, str]]:
    return [(step["step_name"], step["status"]) for step in job["steps"]]
