"""Keys and roles: made, listed, revoked. A token is shown once, and kept nowhere."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from annotated_types import MaxLen
from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, ConfigDict

from penstock.auth.access import again
from penstock.auth.api_keys import ApiKey, KeyStatus, create_key, revoke_key
from penstock.auth.caller import caller_of
from penstock.errors import OutOfScope
from penstock.kernel.merged_page import merged_page
from penstock.kernel.store import Store
from penstock.operations.conditions import Compare
from penstock.schema.role import Role
from penstock.web.operating.operator_route import Cursor, Limit, add_route


class KeyNow(BaseModel):
    """A key, without its secret."""

    key_id: str
    name: str
    role: Role
    project: str | None
    created_at: datetime
    created_by: str
    revoked_at: datetime | None


class KeyList(BaseModel):
    """Some keys, those that work first; pass `next` back as `cursor`, until it is null."""

    items: list[KeyNow]
    next: str | None


class KeyWish(BaseModel):
    """A key that is to be made."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, MaxLen(100)]
    role: Role
    project: Annotated[str | None, MaxLen(200)] = None


class KeyMade(KeyNow):
    """A key just made, with its token. It is in this answer and nowhere else: asked again, the token is null."""

    token: str | None


def add_keys(app: FastAPI, store: Store) -> None:
    """The routes of keys. The store is the whole one: no scope has keys, so the routes look whose each is."""

    def keys(
        request: Request,
        status: Annotated[KeyStatus | None, Query(description="Only those that work, or were revoked.")] = None,
        limit: Limit = 200,
        cursor: Cursor = None,
    ) -> KeyList:
        """Keys without their secrets, those that work first, oldest first."""
        project = caller_of(request).project
        wanted = list(KeyStatus) if status is None else [status]
        queries = [ApiKey.by_status(status=s) for s in wanted]
        if project is not None:
            queries = [q.where(Compare("project_id", "=", project)) for q in queries]

        def order(key: ApiKey) -> tuple[int, datetime]:
            return list(KeyStatus).index(key.status), key.created_at

        page = merged_page(store, queries, order=order, newest_first=False, limit=limit, cursor=cursor)
        return KeyList(items=[_now(k) for k in page.records], next=page.cursor)

    @again(lambda request, told: _made(store.get(ApiKey.at(key_id=told["key_id"])), None))
    def create(request: Request, wish: KeyWish) -> KeyMade:
        """Make a key. Its token is in this answer and nowhere else; who has it can do what the role says."""
        caller = caller_of(request)
        if caller.project is not None and wish.project not in (None, caller.project):
            raise OutOfScope(f"the key is bound to {caller.project}, and makes keys for that project only")
        project = caller.project or wish.project
        made = create_key(store, name=wish.name, role=wish.role, project=project, by=caller.name, once=caller.claim)
        return _made(made.record, made.token)

    @again(lambda request, told: _now(store.get(ApiKey.at(key_id=told["key_id"]))))
    def revoke(request: Request, key_id: Annotated[str, MaxLen(100), Query()]) -> KeyNow:
        """End a key at once."""
        caller = caller_of(request)
        return _now(revoke_key(store, key_id, by=caller.name, project=caller.project, once=caller.claim))

    more: dict[str, Any] = {"role": Role.ADMIN, "tag": "ops"}
    add_route(app, "GET", "/api/ops/keys", keys, model=KeyList, name="ops_keys", **more)
    add_route(app, "POST", "/api/ops/keys", create, model=KeyMade, name="ops_keys_create", status=201, **more)
    add_route(app, "POST", "/api/ops/keys/revoke", revoke, model=KeyNow, name="ops_keys_revoke", gives=(404,), **more)


def _now(key: Any) -> KeyNow:
    return KeyNow(**{name: getattr(key, name) for name in KeyNow.model_fields})


def _made(key: Any, token: str | None) -> KeyMade:
    return KeyMade(**_now(key).model_dump(), token=token)
