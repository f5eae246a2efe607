"""The fields of an entity: what each holds, who writes it, and how it is shown."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, Field
from pydantic_core import to_jsonable_python

from penstock.declare.condition_text import filterable
from penstock.declare.entity import Entity
from penstock.declare.keys_within import keys_within
from penstock.declare.rights import field_permission
from penstock.declare.units import unit_of
from penstock.files.record_previews import likely_types
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.object_key import HoldsFolder
from penstock.schema.role import Role
from penstock.web.declared.viewpoint import DeclaredPermission, Viewpoint

FieldKind = Literal[
    "text",
    "choice",
    "state",
    "uuid",
    "integer",
    "number",
    "decimal",
    "flag",
    "bytes",
    "time",
    "day",
    "file",
    "folder",
    "set",
    "list",
    "map",
    "object",
    "document",
]
Precision = Literal["seconds", "milliseconds", "microseconds"]
_KINDS: dict[Kind, str] = {
    Kind.TEXT: "text",
    Kind.CHOICE: "choice",
    Kind.IDENTIFIER: "uuid",
    Kind.INTEGER: "integer",
    Kind.FLOAT: "number",
    Kind.DECIMAL: "decimal",
    Kind.FLAG: "flag",
    Kind.BYTES: "bytes",
    Kind.INSTANT: "time",
    Kind.DAY: "day",
    Kind.TEXTS: "set",
}
_PRECISIONS: dict[int, Precision] = {0: "seconds", 3: "milliseconds", 6: "microseconds"}
_ORIGINS = {list: "list", tuple: "list", dict: "map"}


class DeclaredFiles(BaseModel):
    """The files that a field points at; `GET …/files` of a record signs URLs for them."""

    several: bool = Field(description="Does it hold more than one key?")
    folders: bool = Field(description="Is it a folder, whose files are all the record's?")
    content_types: list[str] = Field(description="What files in their places usually are; empty where that is open.")
    places: list[str] = Field(description="Where they may lie.")
    opened_by: Role | None = Field(description="Who may open them; null: whoever sees the record.")
    may_open: bool = Field(description="May this caller?")


class DeclaredField(BaseModel):
    """One field of a record."""

    name: str
    kind: FieldKind
    summary: str | None = None
    optional: bool = Field(default=False, description="May it have no value?")
    required: bool = Field(default=False, description="Must whoever creates the record give it?")
    default: Any = None
    frozen: bool = Field(default=False, description="Does it stay as it was first written?")
    values: list[str] | None = Field(default=None, description="Of a choice or a state.")
    precision: Precision | None = Field(default=None, description="Of a time.")
    unit: str | None = None
    items: str | None = Field(default=None, description="The kind of what a list or a map holds.")
    files: DeclaredFiles | None = None
    key: bool = False
    filterable: bool = Field(default=False, description="May `where` of a list compare it?")
    computed_of: list[str] | None = None
    unique_within: list[str] | None = Field(
        default=None, description="No two records that agree in these share its value."
    )
    seen_by: Role | None = Field(default=None, description="It is personal: below this role it is left out.")
    hidden: bool = Field(default=False, description="Is it left out for this caller?")
    written_by: DeclaredPermission | None = Field(
        default=None, description="Where not whoever creates the record writes it."
    )


def declared_fields(entity: type[Entity], viewpoint: Viewpoint) -> list[DeclaredField]:
    """Every field in the order of the declaration, also those that are hidden: that they exist is no secret."""
    shape = entity.__shape__
    hidden, comparable = shape.hidden_from(viewpoint.role), filterable(shape)
    return [
        _field(entity, f, viewpoint, hidden=f.name in hidden, comparable=f.name in comparable)
        for f in shape.fields.values()
    ]


def _field(
    entity: type[Entity], field: FieldShape, viewpoint: Viewpoint, *, hidden: bool, comparable: bool
) -> DeclaredField:
    info, shape = entity.model_fields[field.name], entity.__shape__
    creator = field_permission(shape, field)
    return DeclaredField(
        name=field.name,
        kind=kind_of(field),
        summary=info.description,
        optional=field.optional,
        required=info.is_required(),
        default=to_jsonable_python(field.default, fallback=str),
        frozen=bool(info.frozen) or field.name in shape.key.fields,
        values=[member.value for member in field.python] if field.kind is Kind.CHOICE else None,
        precision=_PRECISIONS.get(field.digits) if field.kind is Kind.INSTANT else None,
        unit=unit_of(info.annotation, info.metadata),
        items=_items(field) if field.kind is Kind.DOCUMENT else None,
        files=_files(entity, field, viewpoint),
        key=field.name in shape.key.fields,
        filterable=comparable and not hidden,
        computed_of=None if field.computation is None else list(field.computation.of),
        unique_within=None if field.unique_within is None else list(field.unique_within),
        seen_by=field.personal,
        hidden=hidden,
        written_by=DeclaredPermission.of(creator) if _is_special(field) else None,
    )


def _is_special(field: FieldShape) -> bool:
    return field.written_by is not None or field.state or field.counts_writes or field.computation is not None


def kind_of(field: FieldShape) -> Any:
    """What a field is to a reader."""
    if field.state:
        return "state"
    if field.kind is Kind.TEXT and field.keys is not None:
        return "file"
    if field.kind is Kind.TEXT and field.folders is not None:
        return "folder"
    return _KINDS[field.kind] if field.kind is not Kind.DOCUMENT else _document_kind(field.python)


def _document_kind(annotation: Any) -> str:
    origin = get_origin(annotation) or annotation
    if isinstance(origin, type) and issubclass(origin, BaseModel):
        return "object"
    return _ORIGINS.get(origin, "document")


def _items(field: FieldShape) -> str | None:
    """The kind of the members of a list or a map, where it is one that people know."""
    arguments = get_args(field.python)
    if not arguments or _document_kind(field.python) not in ("list", "map"):
        return None
    held = arguments[-1]
    if keys_within(held) is not None:
        return "file"
    if keys_within(held, marked=HoldsFolder) is not None:
        return "folder"
    plain = {str: "text", int: "integer", float: "number", bool: "flag"}.get(held)
    return plain or (_document_kind(held) if get_origin(held) or isinstance(held, type) else None)


def _files(entity: type[Entity], field: FieldShape, viewpoint: Viewpoint) -> DeclaredFiles | None:
    if field.keys is None and field.folders is None:
        return None
    places = [p for p in entity.__shape__.files if p.is_folder is (field.keys is None) or p.admits_folders]
    return DeclaredFiles(
        several=field.kind is not Kind.TEXT,
        folders=field.folders is not None,
        content_types=likely_types(p.text for p in places),
        places=[p.text for p in places],
        opened_by=field.opened_by,
        may_open=viewpoint.sees(entity.__shape__) and viewpoint.includes(field.opened_by),
    )
