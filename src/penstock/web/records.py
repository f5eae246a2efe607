"""The routes every entity has by its declaration: list by a pattern, get by key, history, create, and each
move as a verb.

    GET  /api/{domain}/{collection}?pattern=NAME&…
    GET  /api/{domain}/{collection}/{key part}/{key part}…
    GET  /api/{domain}/{collection}/{key part}/{key part}…/history
    GET  /api/{domain}/{collection}/{key part}/{key part}…/files
    POST /api/{domain}/{collection}
    POST /api/{domain}/{collection}/{key part}/{key part}…/moves/{move}

There is a route for what the declaration leaves to a role, and for nothing else; whoever tries all the same is told
whose it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, MaxLen
from fastapi import FastAPI, Request
from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from penstock.auth.access import Access
from penstock.auth.caller import caller_of
from penstock.auth.doors import check_creation, check_move, moves_open_to
from penstock.declare.entity import Entity
from penstock.declare.move import MoveOf
from penstock.declare.move_arguments import filled_in, move_model
from penstock.declare.pattern import ask
from penstock.declare.record_address import record_path
from penstock.declare.rendering import rendered
from penstock.declare.rights import creation_permission, move_permission
from penstock.errors import NotPermitted
from penstock.kernel.unchanged import unchanged
from penstock.operations.conditions import Condition
from penstock.operations.reads import Ref
from penstock.ports.object_store import ObjectStore
from penstock.schema.permission import allows
from penstock.schema.role import Role
from penstock.schema.shape import PatternShape
from penstock.web.errors import Forbidden, InvalidRequest, NoSuchRoute, PreconditionFailed
from penstock.web.forms import (
    etag_of,
    json_of,
    names,
    new_record_model,
    parameter_type,
    record_model,
    some_fields_model,
)
from penstock.web.idempotency import IdempotentAnswer
from penstock.web.identity import Guard
from penstock.web.paging import page_of
from penstock.web.pattern_question import CURSOR, LIMIT, OF_EVERY_LIST, PATTERN, asking_text, needed, range_of, words_of
from penstock.web.problems import invalid_request
from penstock.web.record_files import URL_HEADERS, RecordFiles, files_answer
from penstock.web.record_history import ASKED, SHOWN_TO, HistoryItems, history_page, history_parameters
from penstock.web.record_route import ClosedRoute, RecordRoute
from penstock.web.route import AdmittedRoute
from penstock.web.signature import Endpoint, argument, body, endpoint, query, segment
from penstock.web.unquoted import unquoted
from penstock.web.wider_lists import BEHIND, WHERE, page_model, read_wider, wider_parameters, wider_words

_JSON = "application/json"
_LIMITED = Annotated[int, Ge(1), Le(1000)]
_CURSORS = Annotated[str, MaxLen(4096)]
_MOVE = "_move"
"No field can be called so."


class RecordRoutes:
    """Adds the routes of one entity under a path."""

    def __init__(
        self, app: FastAPI, entity: type[Entity], *, prefix: str, tag: str, objects: ObjectStore | None = None
    ) -> None:
        self._app, self._entity, self._shape, self._tag = app, entity, entity.__shape__, tag
        self._objects = objects
        self._path = f"{prefix}/{self._shape.collection}"
        self._record_path = "/".join([self._path, *(f"{{{n}}}" for n in self._keys)])
        self._name = f"{tag}_{self._shape.collection}"
        self._title = f"{tag.title()}{entity.__name__}"
        self._model = record_model(entity, self._title)
        self._key = [segment(n, parameter_type(entity, n), about="Part of the key.") for n in self._keys]

    @property
    def _keys(self) -> tuple[str, ...]:
        return self._shape.key.fields

    def add_all(self, *, least: Role | None = None) -> None:
        """Everything the declaration has, for those to whom it leaves each; for none below ``least``."""
        seen_by = _stricter(least, self._shape.seen_by)
        self._add_get(seen_by)
        if self._shape.patterns:
            self._add_list(seen_by)
        if self._shape.traced:
            self._add_history(_stricter(seen_by, SHOWN_TO))
        if self._shape.pointing and self._objects is not None:
            self._add_files(seen_by)
        # The answer to either is the record, so whoever makes it must be one who sees it.
        creator = creation_permission(self._shape)
        if isinstance(creator, Role):
            self._add_create(_stricter(seen_by, creator))
        else:
            self._add_closed(self._path, lambda role, _: check_creation(self._entity, role))
        for move in self._entity.__moves__.values():
            permission = move_permission(self._shape, move)
            if isinstance(permission, Role):
                self._add_move(move, _stricter(seen_by, permission))
        self._add_closed(f"{self._record_path}/moves/{{{_MOVE}}}", self._check_move)

    def _add_get(self, role: Role | None) -> None:
        about = (inspect.getdoc(self._entity) or self._entity.__name__).split("\n\n")[0]
        get = endpoint(self._get, self._key, name=f"{self._name}_get", about=f"One record by its key. {about}")
        self._add(get, self._record_path, "GET", role=role, model=self._model, gives=(304, 404))

    def _add_list(self, role: Role | None) -> None:
        some = some_fields_model(self._entity, f"Some{self._title}")
        page = page_model(f"{self._title}Page", self._model, some)
        patterns = self._shape.patterns.values()
        about = "\n".join(f"- `{p.name}`: {p.summary or p.name}{asking_text(p)}" for p in patterns)
        find = endpoint(
            self._list,
            self._list_parameters(),
            name=f"{self._name}_list",
            about=f"Records by a pattern.\n\n{about}",
            repeated=frozenset({WHERE}),
        )
        find.__patterns__ = tuple(patterns)  # type: ignore[attr-defined]
        self._add(find, self._path, "GET", role=role, model=page)

    def _add_history(self, role: Role | None) -> None:
        about = "What became of a record, also of one that is gone: its changes and tasks, newest first."
        parameters = [*self._key, *history_parameters()]
        show = endpoint(self._history, parameters, name=f"{self._name}_history", about=about)
        self._add(show, f"{self._record_path}/history", "GET", role=role, model=HistoryItems, gives=(404,))

    def _add_files(self, role: Role | None) -> None:
        about = "The files that a record points at, of those that are there, each with a URL that opens it for a while."
        show = endpoint(self._files, self._key, name=f"{self._name}_files", about=about)
        self._add(show, f"{self._record_path}/files", "GET", role=role, model=RecordFiles, gives=(404,))

    def _add_create(self, role: Role | None) -> None:
        model = new_record_model(self._entity, f"New{self._title}")
        create = endpoint(
            self._create, [body(model)], name=f"{self._name}_create", about="Write a record where none stands."
        )
        self._add(create, self._path, "POST", role=role, model=self._model, status=201, gives=(409,))

    def _add_move(self, move: MoveOf[Any, ...], role: Role | None) -> None:
        model = move_model(move, f"{self._title}{move.name.title().replace('_', '')}")
        parameters = [*self._key, *([body(model)] if model is not None else [])]
        states = f"From {' or '.join(s.value for s in move.origins)} to {move.to.value}."
        about = f"{move.summary} {states}".strip()
        function = endpoint(partial(self._move, move), parameters, name=f"{self._name}_{move.name}", about=about)
        path, gives = f"{self._record_path}/moves/{move.name}", (404, 409, 412)
        self._add(function, path, "POST", role=role, model=self._model, gives=gives)

    def _add(
        self,
        function: Endpoint,
        path: str,
        method: str,
        *,
        role: Role | None = None,
        model: type[BaseModel],
        status: int = 200,
        gives: Iterable[int] = (),
    ) -> None:
        if role is not None:
            function.__access__ = Access(role)  # type: ignore[attr-defined]
        function.__gives__ = tuple(gives)  # type: ignore[attr-defined]
        self._app.router.add_api_route(
            path,
            function,
            methods=[method],
            route_class_override=RecordRoute,
            response_model=model,
            status_code=status,
            tags=[self._tag],
            operation_id=function.__name__,
        )

    # What is not for people

    def _add_closed(self, path: str, check: Callable[[Role | None, Request], None]) -> None:
        """Where people might look for what is not theirs, they are told whose it is."""

        def closed(request: Request) -> None:
            caller = caller_of(request)
            try:
                check(caller.role, request)
            except NotPermitted as refused:
                guard: Guard = request.app.state.guard
                guard.note(request, refused, path, who=caller.name, project=caller.project)
                raise
            raise NoSuchRoute(f"there is nothing at {request.url.path}")

        closed.__access__ = Access(Role.VIEWER)  # type: ignore[attr-defined]
        self._app.router.add_api_route(
            path, closed, methods=["POST"], route_class_override=ClosedRoute, include_in_schema=False
        )

    def _check_move(self, role: Role | None, request: Request) -> None:
        name = request.path_params[_MOVE]
        if name not in self._entity.__moves__:
            there = ", ".join(moves_open_to(self._entity, role)) or "none for this key"
            raise NoSuchRoute(f"{self._shape.label} has no such move; there are {there}")
        check_move(self._entity, self._entity.__moves__[name], role)

    # Reading

    def _list_parameters(self) -> list[inspect.Parameter]:
        patterns = list(self._shape.patterns.values())
        known: Any = Literal.__getitem__(tuple(self._shape.patterns))
        found = [query(PATTERN, known, needed=len(patterns) > 1, about="Which list.")]
        asked = [words_of(self._entity, pattern) for pattern in patterns]
        for name, (kind, about) in {n: q for each in asked for n, q in each.items()}.items():
            always = all(name in needed(pattern) for pattern in patterns)
            found.append(query(name, kind, needed=always, about=about))
        found += wider_parameters(self._entity)
        found.append(query(LIMIT, _LIMITED, needed=False, about="At most so many, 50 if not said."))
        found.append(query(CURSOR, _CURSORS, needed=False, about="`next` of the page before."))
        return found

    def _get(self, request: Request, **key: Any) -> Response:
        values, etag = self._shown(request, caller_of(request).store.get(self._ref(key)))
        known = request.headers.get("if-none-match")
        if known is not None and names(known, etag, weakly=True):
            return Response(status_code=304, headers={"ETag": etag})
        return Response(json_of(values), headers={"ETag": etag, "Cache-Control": "private, no-cache"}, media_type=_JSON)

    def _list(self, request: Request, **arguments: Any) -> Response:
        pattern = self._shape.patterns[arguments[argument(PATTERN)] or next(iter(self._shape.patterns))]
        self._check_asked(request, pattern)
        words = (*words_of(self._entity, pattern), *wider_words(self._shape), LIMIT, CURSOR)
        given = {n: arguments[argument(n)] for n in words}
        asked = {n: given[n] for n in pattern.parameters if n != pattern.ranged and given[n] is not None}
        if pattern.ranged is not None:
            asked[pattern.ranged] = range_of(pattern.ranged, given)
        caller = caller_of(request)
        hidden = self._shape.hidden_from(caller.role)
        wider = read_wider(self._entity, given, hidden)
        page, behind = page_of(
            caller.store,
            wider.of(ask(pattern, asked)),
            limit=given[LIMIT] or 50,
            cursor=given[CURSOR],
            hidden=hidden,
            fields=wider.fields,
            count=wider.count,
            behind_ok=wider.behind_ok,
        )
        headers = {"Cache-Control": "private, no-cache", **({BEHIND: "true"} if behind else {})}
        return Response(page, headers=headers, media_type=_JSON)

    def _history(self, request: Request, **arguments: Any) -> Response:
        given = {n: arguments.pop(f"asked_{argument(n)}") for n in ASKED}
        page = history_page(caller_of(request), self._ref(arguments), range_of("ts", given), given)
        return Response(page, headers={"Cache-Control": "private, no-cache"}, media_type=_JSON)

    def _files(self, request: Request, **key: Any) -> Response:
        caller = caller_of(request)
        assert self._objects is not None
        told = files_answer(caller, caller.store.get(self._ref(key)), self._objects)
        return Response(told, headers=URL_HEADERS, media_type=_JSON)

    def _check_asked(self, request: Request, pattern: PatternShape) -> None:
        """A list takes its own parameters, and tells nobody by what it finds what they may not see."""
        caller = caller_of(request)
        if pattern.asked_by is not None and not allows(pattern.asked_by, caller.role):
            refused = Forbidden(f"this takes the role {pattern.asked_by.value}; the key has {caller.role or 'none'}")
            guard: Guard = request.app.state.guard
            guard.note(request, refused, self._path, who=caller.name, project=caller.project)
            raise refused
        takes = words_of(self._entity, pattern)
        every = {*OF_EVERY_LIST, *wider_words(self._shape)}
        others = [n for n in request.query_params if n not in takes and n not in every]
        missing = [n for n in needed(pattern) if n not in request.query_params]
        if others or missing:
            wrong = dict.fromkeys(others, f"{pattern.name} does not take it")
            wrong |= dict.fromkeys(missing, f"{pattern.name} needs it")
            raise InvalidRequest(
                "; ".join(f"{n}: {why}" for n, why in wrong.items()),
                [{"where": f"query.{n}", "message": why} for n, why in wrong.items()],
            )

    # Writing

    def _create(self, request: Request, *, body: BaseModel) -> Response:
        caller = caller_of(request)
        given = {name: getattr(body, name) for name in body.model_fields_set}
        check_creation(self._entity, caller.role, given=given)
        try:
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
                    known = filled_in(move, now=caller.store.clock.now(), by=caller.name)
                    move.carry_out(record, **given, **known)
                except ValidationError as error:
                    raise invalid_request(error.errors()) from None
            answer, change.result = self._answer(request, record, 200)
            change.save(record, when=condition)
        return answer.response()

    def _answer(self, request: Request, record: Entity, status: int) -> tuple[IdempotentAnswer, dict[str, Any]]:
        """The answer, and what is kept of it for a repetition: personal fields are in their record and nowhere else."""
        values, etag = self._shown(request, record)
        headers = {"content-type": _JSON, "etag": etag}
        if status == 201:
            headers["location"] = record_path(self._path, {n: values[n] for n in self._keys})
        answer = IdempotentAnswer(status, headers, json_of(values))
        hidden = self._shape.hidden_from(None)
        return answer, replace(answer, body=json_of(rendered(record, hidden=hidden)) if hidden else answer.body).kept()

    def _shown(self, request: Request, record: Entity) -> tuple[dict[str, Any], str]:
        """A record as its caller may see it, and the ETag of that."""
        values = rendered(record, hidden=self._shape.hidden_from(caller_of(request).role))
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
        return self._entity.__key__(**{name: key[argument(name)] for name in self._keys})


def questions_of(route: AdmittedRoute) -> list[tuple[str, Access]]:
    """How a route is asked, and what each way asks for: a list by each of its patterns, any other in one way."""
    patterns: tuple[PatternShape, ...] = getattr(route.endpoint, "__patterns__", ())
    asked = [(f"?{PATTERN}={p.name}", Access(_stricter(route.access.role, p.asked_by))) for p in patterns]
    return asked or [("", route.access)]


def _stricter(*roles: Role | None) -> Role | None:
    """The highest of some roles; None stands for whoever may do anything of the kind."""
    return max((r for r in roles if r is not None), key=list(Role).index, default=None)
