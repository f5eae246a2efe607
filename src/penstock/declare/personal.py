"""Personal fields: what tells of a person, and is shown only to whom it must be.

    text: Personal[str]                              # to administrators
    nickname: Annotated[str, SeenBy(Role.EDITOR)]    # to editors, and administrators

To a type checker the field is of its plain type. Whoever may write a record may set the field; the answers of the
service, its events, the command line and a record's own ``repr`` leave it out for everybody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel

from penstock.errors import DeclarationError
from penstock.schema.role import Role
from penstock.schema.shape import EntityShape

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SeenBy:
    """Marks a field as personal: this role and higher ones see it."""

    role: Role


Personal = Annotated[T, SeenBy(Role.ADMIN)]


@dataclass(frozen=True, slots=True)
class OpenedBy:
    """Marks a field of object keys: this role and higher ones may open the files, though others see the record.

    The key itself is told to whoever sees the record, as reports and errors tell it; what it leads to is not.
    """

    role: Role


def seen_by(metadata: Sequence[Any]) -> Role | None:
    """The role that sees a field; None when nothing says that it is personal. Of several marks the strictest counts."""
    roles = [m.role for m in metadata if isinstance(m, SeenBy)]
    return max(roles, key=list(Role).index, default=None)


def opened_by(metadata: Sequence[Any]) -> Role | None:
    """The role that may open the files of a field; None when nothing says. Of several marks the strictest counts."""
    roles = [m.role for m in metadata if isinstance(m, OpenedBy)]
    return max(roles, key=list(Role).index, default=None)


def marked_within(annotation: Any, *, inside: frozenset[type] = frozenset()) -> bool:
    """Is a part of the values of a type marked as personal? A model inside itself is not looked into again."""
    arguments = get_args(annotation)
    if get_origin(annotation) is Annotated and seen_by(arguments[1:]) is not None:
        return True
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in inside:
        fields: Iterable[Any] = annotation.model_fields.values()
        return any(
            seen_by(f.metadata) is not None or marked_within(f.annotation, inside=inside | {annotation}) for f in fields
        )
    return any(marked_within(a, inside=inside) for a in arguments)


def check_personal(shape: EntityShape) -> None:
    """Refuse to call personal what is told everywhere: in errors, audit lines, messages, logs and reports."""
    for field in shape.fields.values():
        if field.opened_by is not None and field.name not in shape.pointing:
            raise DeclarationError(f"{shape.name}.{field.name} points at no file, so OpenedBy says nothing of it")
    for field in shape.personal:
        told = None
        if field.name in shape.key.fields:
            told = "part of the key, by which errors, messages and audit lines name the record; make the key of an id"
        elif field.state:
            told = "a state, which the audit trail tells; keep what is personal in a field of its own"
        elif field.name == "project_id":
            told = "the project, by which records are kept apart; name projects by ids"
        elif field.keys is not None:
            told = "the key of a file, which reports and errors name; keep what is personal out of names of files"
        if told is not None:
            raise DeclarationError(f"{shape.name}.{field.name} cannot be personal: it is {told}")
