"""The routes every entity has by its declaration: list by a pattern, get by key, create, and each move as a verb."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from annotated_types import Ge, Le, MaxLen
from fastapi import FastAPI, Request
from pydantic import BaseModel, ValidationError, create_model
from starlette.responses import Response

from penstock.auth.access import Access
from penstock.auth.caller import Caller, caller_of
from penstock.declare.entity import Entity
from penstock.declare.move import MoveOf
from penstock.declare.pattern import ask
from penstock.errors import DeclarationError
from penstock.kernel.audit import AuditLine
from penstock.kernel.idempotency import Once
from penstock.kernel.outbox import Message
from penstock.operations.conditions import Condition
from penstock.operations.reads import ANYTHING, Range, Ref
from penstock.schema.kinds import Kind
from penstock.schema.role import Role
from penstock.schema.shape import PatternShape
from penstock.web.errors import InvalidRequest, PreconditionFailed
from penstock.web.forms import (
    FILLED_IN,
    etag_of,
    json_of,
    move_model,
    names,
    new_record_model,
    parameter_type,
    path_of,
    plain,
    record_model,
    unchanged,
)
from penstock.web.idempotency import IdempotentAnswer
from penstock.web.paging import page_of
from penstock.web.problems import invalid_request
from penstock.web.route import AdmittedRoute
from penstock.web.signature import Endpoint, body, endpoint, query
from penstock.web.unquoted import unquoted

_JSON = "application/json"
_LIMIT = Annotated[int, Ge(1), Le(1000)]
_CURSOR = Annotated[str, MaxLen(4096)]
_BOUNDS = {"since": "not before", "after": "after", "before": "before", "until": "not after"}
_MACHINERY = (AuditLine, Message, Once)
"Records that the kernel keeps for a domain: administrators may look at them, and nobody changes them here."


class RecordRoutes:
    """Adds the routes of one entity under a path."""

    def __init__(self, app: FastAPI, entity: type[Entity], *, prefix: str, tag: str) -> None:
        self._app, self._entity, self._shape, self._tag = app, entity, entity.__shape__, tag
        self._path = f"{prefix}/{self._shape.relation}"
        self._name = f"{tag}_{self._shape.relation}"
        self._title = f"{tag.title()}{entity.__name__}"
        self._model = record_model(entity, self._title)
        self._machinery = issubclass(entity, _MACHINERY)
        self._key = [query(n, parameter_type(entity, n), needed=True, about="Part of the key.") for n in self._keys]

    @property
    def _keys(self) -> tuple[str, ...]:
        return self._shape.key.fields

    def add_all(self) -> None:
        """Everything the declaration has."""
        seen_by = Role.ADMIN if self._machinery else self._shape.seen_by
        self.add_reading(access=None if seen_by is None else Access(seen_by))
        if not self._machinery and not self._entity.__guarded__:
            # The answer to either is the record.
            access = Access(seen_by) if seen_by is not None and seen_by.includes(Role.EDITOR) else None
            self.add_create(access=access)
            self.add_moves(self._entity.__moves__, access=access)

    def add_reading(self, *, access: Access | None = None) -> None:
        """Get by key, and a list for each pattern."""
        about = (inspect.getdoc(self._entity) or self._entity.__name__).split("\n\n")[0]
        get = endpoint(self._get, self._key, name=f"{self._name}_get", about=f"One record by its key. {about}")
        self._add(get, "", "GET", access=access, model=self._model, gives=(304, 404))
        page = create_model(f"{self._title}Page", items=(list[self._model], ...), next=(str | None, ...))  # type: ignore[name-defined]
        page.__doc__ = "Some records in order; pass `next` back as `cursor` for those behind them, until it is null."
        taken: set[str] = set()
        for pattern in self._shape.patterns.values():
            path = path_of(pattern)
            if path in taken:
                raise DeclarationError(f"{pattern.label}: another pattern has the path by/{path}; rename one")
            taken.add(path)
            find = endpoint(
                partial(self._list, pattern),
                self._list_parameters(pattern),
                name=f"{self._name}_by_{path}",
                about=pattern.summary or pattern.name,
            )
            asked_by = pattern.asked_by
            stricter = asked_by is not None and not (access and access.role and access.role.includes(asked_by))
            self._add(find, f"/by/{path}", "GET", access=Access(asked_by) if stricter else access, model=page)

    def add_create(self, *, access: Access | None = None) -> None:
        """A new record, in its first state."""
        model = new_record_model(self._entity, f"New{self._title}")
        create = endpoint(
            self._create, [body(model)], name=f"{self._name}_create", about="Write a record where none stands."
        )
        self._add(create, "", "POST", access=access, model=self._model, status=201, gives=(409,))

    def add_moves(self, moves: Iterable[str], *, access: Access | None = None) -> None:
        """Each move as a verb."""
        for name in moves:
            move = self._entity.__moves__[name]
            model = move_model(self._entity, move, f"{self._title}{name.title().replace('_', '')}")
            parameters = [*self._key, *([body(model)] if model is not None else [])]
            states = f"From {' or '.join(s.value for s in move.origins)} to {move.to.value}."
            about = f"{move.summary} {states}".strip()
            function = endpoint(partial(self._move, move), parameters, name=f"{self._name}_{name}", about=about)
            gives = (404, 409, 412)
            self._add(function, f"/moves/{name}", "POST", access=access, model=self._model, gives=gives)

    def _add(
        self,
        function: Endpoint,
        path: str,
        method: str,
        *,
        access: Access | None = None,
        model: type[BaseModel],
        status: int = 200,
        gives: Iterable[int] = (),
    ) -> None:
        if access is not None:
            function.__access__ = access  # type: ignore[attr-defined]
        function.__gives__ = tuple(gives)  # type: ignore[attr-defined]
        self._app.router.add_api_route(
            f"{self._path}{path}",
            function,
            methods=[method],
            route_class_override=AdmittedRoute,
            response_model=model,
            status_code=status,
            tags=[self._tag],
            operation_id=function.__name__,
        )

    # Reading

    def _list_parameters(self, pattern: PatternShape) -> list[inspect.Parameter]:
        found = []
        for name in pattern.parameters:
            kind = parameter_type(self._entity, name)
            if name != pattern.ranged:
                found.append(query(name, kind, needed=name not in pattern.optional, about=f"Exactly this {name}."))
                continue
            for word, about in _BOUNDS.items():
                alias = f"{name}.{word}"
                found.append(query(f"{name}__{word}", kind, needed=False, about=f"{name} {about} this.", alias=alias))
            if self._shape.fields[name].kind is Kind.TEXT:
                alias = f"{name}.starting_with"
                found.append(query(f"{name}__starting_with", str, needed=False, about="Begins so.", alias=alias))
        found.append(query("limit", _LIMIT, needed=False, about="At most so many, 50 if not said."))
        found.append(query("cursor", _CURSOR, needed=False, about="`next` of the page before."))
        return found

    def _get(self, request: Request, **key: Any) -> Response:
        values, etag = self._shown(request, caller_of(request).store.get(self._ref(key)))
        known = request.headers.get("if-none-match")
        if known is not None and names(known, etag, weakly=True):
            return Response(status_code=304, headers={"ETag": etag})
        return Response(json_of(values), headers={"ETag": etag, "Cache-Control": "private, no-cache"}, media_type=_JSON)

    def _list(self, pattern: PatternShape, request: Request, **given: Any) -> Response:
        limit, cursor = given.pop("limit") or 50, given.pop("cursor")
        asked = {n: given[n] for n in pattern.parameters if n != pattern.ranged and given[n] is not None}
        if pattern.ranged is not None:
            asked[pattern.ranged] = _range(pattern.ranged, given)
        caller = caller_of(request)
        hidden = self._shape.hidden_from(caller.role)
        page = page_of(caller.store, ask(pattern, asked), limit=limit, cursor=cursor, hidden=hidden)
        return Response(page, headers={"Cache-Control": "private, no-cache"}, media_type=_JSON)

    # Writing

    def _create(self, request: Request, *, body: BaseModel) -> Response:
        caller = caller_of(request)
        try:
            given = {name: getattr(body, name) for name in body.model_fields_set}
            record = self._entity.model_validate(given)
        except ValidationError as error:
            raise invalid_request(error.errors()) from None
        with caller.change() as change:
            change.create(record)
            answer, change.result = self._answer(request, record, 201)
        return answer.response()

    def _move(self, move: MoveOf[Any, ...], request: Request, *, body: BaseModel | None = None, **key: Any) -> Response:
        caller = caller_of(request)
        ref = self._ref(key)
        with caller.change() as change:
            record = change.get(ref)
            condition = self._precondition(request, record)
            given = {} if body is None else {n: getattr(body, n) for n in type(body).model_fields}
            with unquoted(record, self._shape.hidden_from(caller.role)):
                try:
                    move.carry_out(record, **given, **_filled_in(move, caller))
                except ValidationError as error:
                    raise invalid_request(error.errors()) from None
            answer, change.result = self._answer(request, record, 200)
            change.save(record, when=condition)
        return answer.response()

    def _answer(self, request: Request, record: Entity, status: int) -> tuple[IdempotentAnswer, dict[str, Any]]:
        """The answer, and what is kept of it for a repetition: personal fields are in their record and nowhere else."""
        values, etag = self._shown(request, record)
        answer = IdempotentAnswer(status, {"content-type": _JSON, "etag": etag}, json_of(values))
        hidden = self._shape.hidden_from(None)
        return answer, replace(answer, body=json_of(plain(record, hidden=hidden)) if hidden else answer.body).kept()

    def _shown(self, request: Request, record: Entity) -> tuple[dict[str, Any], str]:
        """A record as its caller may see it, and the ETag of that."""
        values = plain(record, hidden=self._shape.hidden_from(caller_of(request).role))
        return values, etag_of(values, secret=request.app.state.options.secret)

    def _precondition(self, request: Request, record: Entity) -> Condition | None:
        """What If-Match asks for: that the record is the one its caller has seen, now and when the change commits."""
        wanted = request.headers.get("if-match")
        if wanted is None or wanted.strip() == "*":
            return None
        if not names(wanted, self._shown(request, record)[1]):
            raise PreconditionFailed(f"{record.ref!r} has changed since it was read")
        return unchanged(record)

    def _ref(self, key: dict[str, Any]) -> Ref[Any]:
        return self._entity.__key__(**{name: key[name] for name in self._keys})


def _range(name: str, given: dict[str, Any]) -> Range[Any]:
    """The bounds of a ranged parameter; at most one at each end."""
    bound = {word: given.get(f"{name}__{word}") for word in (*_BOUNDS, "starting_with")}
    for first, second in (("since", "after"), ("until", "before")):
        if bound[first] is not None and bound[second] is not None:
            wrong = f"{name}.{second}"
            raise InvalidRequest(
                f"give {name}.{first} or {wrong}, not both", [{"where": f"query.{wrong}", "message": "one too many"}]
            )
    ends = [w for w in _BOUNDS if bound[w] is not None]
    if bound["starting_with"] is not None:
        if ends:
            raise InvalidRequest(
                f"give {name}.starting_with or bounds, not both",
                [{"where": f"query.{name}.starting_with", "message": "not together with bounds"}],
            )
        return Range(prefix=bound["starting_with"])
    if not ends:
        return ANYTHING
    low = bound["since"] if bound["since"] is not None else bound["after"]
    high = bound["until"] if bound["until"] is not None else bound["before"]
    return Range(low, high, open_low=bound["after"] is not None, open_high=bound["before"] is not None)


def _filled_in(move: MoveOf[Any, ...], caller: Caller) -> dict[str, Any]:
    if move.body is None:
        return {}
    takes = inspect.signature(move.body).parameters
    known = {"at": caller.store.clock.now(), "now": caller.store.clock.now(), "by": caller.name}
    return {name: known[name] for name in FILLED_IN if name in takes}
