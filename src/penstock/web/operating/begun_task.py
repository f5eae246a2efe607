"""What is answered where something takes long: the task that does it, and where its result will be."""

from __future__ import annotations

from urllib.parse import quote

from pydantic import BaseModel


class BegunTask(BaseModel):
    """Something that was begun; look at the task for how far it has come, and for its result."""

    task_id: str
    path: str


def begun(task_id: str) -> BegunTask:
    """The answer about a task."""
    return BegunTask(task_id=task_id, path=f"/api/work/tasks/{quote(task_id, safe='')}")
