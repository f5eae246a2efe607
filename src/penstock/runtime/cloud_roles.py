"""Roles of a deployment on AWS, each with what it needs and no more, derived from the declaration.

API      `penstock up`: all records and files, the streams of changes, and the sink.
worker   `penstock worker`: all records and files, but none of the doors': keys, sessions, links; and no field that the
         declaration leaves to a role or to an action, such as the count of a video's views.
relay    `penstock relay`: the outboxes, its own lease, what the store knows of its layouts, and the sink.
reader   whoever looks into the tables of domains with tools of their own; nothing personal.

Only what stands where the writer is can be written. Reading goes on in every region.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.auth.api_keys import ApiKey
from penstock.auth.browser_session import BrowserSession
from penstock.auth.guest_link import GuestLink
from penstock.engines.dynamodb.table_resources import (
    ATTRIBUTES,
    DESCRIBES,
    FOLLOWS,
    KEYS,
    READS,
    SELECT,
    SETS,
    STATEMENTS,
    WRITES,
    key_prefixes,
    table_id,
)
from penstock.kernel.held_message import HeldMessage
from penstock.kernel.layouts.knower import Knower
from penstock.kernel.layouts.stored_layout import LayoutEdition, StoredLayout
from penstock.kernel.lease import NamedLease
from penstock.objects.s3.bucket_resources import FILES, LISTS, SWEEPS
from penstock.schema.permission import System
from penstock.schema.shape import EntityShape, TablePlace
from penstock.sinks.eventbridge import SENDS

Statement = dict[str, Any]
Resource = dict[str, Any] | str


@dataclass(frozen=True)
class CloudDeployment:
    """What roles are made for."""

    shapes: Sequence[EntityShape]
    "Of the domains that are served."
    own: Sequence[EntityShape]
    "Of what the system keeps for itself."
    outboxes: Sequence[EntityShape]
    names: dict[str, str]
    "Tables that are called otherwise than their declaration says."
    replicas: Sequence[str] = ()
    bucket: str | None = None
    "The bucket's name within the template."
    bus: Resource | None = None

    def name_of(self, place: TablePlace) -> str:
        return self.names.get(place.name, place.name)

    def tables(self, shapes: Iterable[EntityShape]) -> list[TablePlace]:
        """The tables of some entities, each once."""
        return list(dict.fromkeys(shape.table for shape in shapes))


def api(of: CloudDeployment) -> list[Statement]:
    """What `penstock up` needs."""
    every = of.tables([*of.shapes, *of.own])
    followed = [_within(of, place, "stream") for place in every if place.feed or of.replicas]
    streams = [_allow("FollowChanges", FOLLOWS, followed)] if followed else []
    return [*_records(of, every), *streams, *_files(of, (*LISTS, *SWEEPS)), *_sink(of)]


def worker(of: CloudDeployment) -> list[Statement]:
    """What `penstock worker` needs, and what it never does."""
    every = of.tables([*of.shapes, *of.own])
    return [*_records(of, every), *_files(of, LISTS), *_denied_fields(of), *_denied_records(of)]


def relay(of: CloudDeployment) -> list[Statement]:
    """What `penstock relay` needs."""
    layouts = [entity.__shape__ for entity in (LayoutEdition, StoredLayout, Knower)]
    told = [*of.outboxes, HeldMessage.__shape__, NamedLease.__shape__, *layouts]
    places = of.tables(told)
    keys = sorted({prefix for shape in told for prefix in key_prefixes(shape)})
    arns = [arn for place in places for arn in (_arn(of, place), *_indexes(of, [place]))]
    return [
        _allow("TellMessages", (*READS, *WRITES), arns, {"ForAllValues:StringLike": {KEYS: keys}}),
        *_sink(of),
    ]


def reader(of: CloudDeployment) -> list[Statement]:
    """What somebody needs who looks into the tables of domains."""
    personal = {
        p: sorted({f.attribute for s in of.shapes if s.table is p for f in s.personal}) for p in of.tables(of.shapes)
    }
    free = [place for place, fields in personal.items() if not fields]
    held = [place for place, fields in personal.items() if fields]
    said = (
        [_allow("ReadRecords", READS, [*_everywhere(of, free), *_indexes(of, free, everywhere=True)])] if free else []
    )
    if held:
        # Whoever does not say which fields is given all of them.
        some = {"StringEquals": {SELECT: "SPECIFIC_ATTRIBUTES"}}
        arns = [*_everywhere(of, held), *_indexes(of, held, everywhere=True)]
        said.append(_allow("ReadSomeFields", ("dynamodb:Query",), arns, some))
        names = sorted({name for place in held for name in personal[place]})
        said.append(
            _deny("NothingPersonal", (*READS, STATEMENTS[0]), arns, {"ForAnyValue:StringEquals": {ATTRIBUTES: names}})
        )
    return said


def doors_fields(shapes: Iterable[EntityShape], place: TablePlace) -> list[str]:
    """The attributes of a table that the declaration leaves to a role or to an action, whichever record has them."""
    fields = [f for s in shapes if s.table is place for f in s.fields.values()]
    left = {f.attribute for f in fields if f.written_by is not None and not isinstance(f.written_by, System)}
    return sorted(left - {f.attribute for f in fields if f.written_by is None or isinstance(f.written_by, System)})


def _records(of: CloudDeployment, places: Sequence[TablePlace]) -> list[Statement]:
    here = [_arn(of, place) for place in places]
    return [
        _allow("ReadRecords", READS, [*_everywhere(of, places), *_indexes(of, places, everywhere=True)]),
        _allow("WriteRecords", WRITES, here),
        _allow("LookAtTables", DESCRIBES, _everywhere(of, places)),
    ]


def _denied_fields(of: CloudDeployment) -> list[Statement]:
    statements = []
    for place in of.tables(of.shapes):
        if names := doors_fields(of.shapes, place):
            sid = f"LeaveFieldsOf{table_id(of.name_of(place)).removesuffix('Table')}"
            statements.append(_deny(sid, SETS, [_arn(of, place)], {"ForAnyValue:StringEquals": {ATTRIBUTES: names}}))
    return statements


def _denied_records(of: CloudDeployment) -> list[Statement]:
    doors = [entity.__shape__ for entity in (ApiKey, BrowserSession, GuestLink)]
    keys = sorted({prefix for shape in doors for prefix in key_prefixes(shape)})
    places = of.tables(doors)
    arns = [arn for place in places for arn in (_arn(of, place), *_indexes(of, [place]))]
    actions = (*READS, *WRITES, *STATEMENTS)
    return [_deny("LeaveKeysAndSessions", actions, arns, {"ForAnyValue:StringLike": {KEYS: keys}})]


def _files(of: CloudDeployment, lists: Sequence[str]) -> list[Statement]:
    if of.bucket is None:
        return []
    return [
        _allow("KeepFiles", FILES, [{"Fn::Sub": f"${{{of.bucket}.Arn}}/*"}]),
        _allow("ListFiles", lists, [{"Fn::GetAtt": [of.bucket, "Arn"]}]),
    ]


def _sink(of: CloudDeployment) -> list[Statement]:
    return [] if of.bus is None else [_allow("Tell", SENDS, [of.bus])]


def _allow(sid: str, actions: Sequence[str], resources: Sequence[Resource], condition: Any = None) -> Statement:
    return _statement(sid, "Allow", actions, resources, condition)


def _deny(sid: str, actions: Sequence[str], resources: Sequence[Resource], condition: Any = None) -> Statement:
    return _statement(sid, "Deny", actions, resources, condition)


def _statement(
    sid: str, effect: str, actions: Sequence[str], resources: Sequence[Resource], condition: Any
) -> Statement:
    said: Statement = {"Sid": sid, "Effect": effect, "Action": list(actions), "Resource": list(resources)}
    return said if condition is None else {**said, "Condition": condition}


def _arn(of: CloudDeployment, place: TablePlace) -> Resource:
    return {"Fn::GetAtt": [table_id(of.name_of(place)), "Arn"]}


def _within(of: CloudDeployment, place: TablePlace, what: str) -> Resource:
    return {"Fn::Sub": f"${{{table_id(of.name_of(place))}.Arn}}/{what}/*"}


def _everywhere(of: CloudDeployment, places: Sequence[TablePlace]) -> list[Resource]:
    """The tables, here and in every further region."""
    return [_replicas(of, place) if of.replicas else _arn(of, place) for place in places]


def _indexes(of: CloudDeployment, places: Sequence[TablePlace], *, everywhere: bool = False) -> list[Resource]:
    with_some = [place for place in places if place.indexes]
    if everywhere and of.replicas:
        return [_replicas(of, place, "/index/*") for place in with_some]
    return [_within(of, place, "index") for place in with_some]


def _replicas(of: CloudDeployment, place: TablePlace, rest: str = "") -> Resource:
    """A table wherever it is: one name for all regions, as a role has room for only so many."""
    return {"Fn::Sub": f"arn:${{AWS::Partition}}:dynamodb:*:${{AWS::AccountId}}:table/{of.name_of(place)}{rest}"}
