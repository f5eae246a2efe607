"""Tables as others make and write them: PynamoDB and boto3 on DynamoDB, and SQL by hand."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

import psycopg
from pynamodb.attributes import UTCDateTimeAttribute

from penstock.ports.engine import Engine
from tests.domains.musicvideo.documents import MVProjectItem
from tests.evolution.adopted.documents import Item, as_row
from tests.homes import dynamo_access, dynamo_client


class Others(Protocol):
    """Whoever has written before."""

    def make(self) -> None:
        """Both tables of DynamoDB, or the three of SQL."""

    def save(self, items: Sequence[Item]) -> None:
        """Write projects and scenes with the documents' own tool."""

    def save_with_moments(self, item: Item) -> None:
        """Write a project with a tool that has moments of its own."""

    def write(self, table: str, items: Sequence[Item]) -> None:
        """Write whatever it is."""

    def raw(self) -> Any:
        """All that is stored, as it is stored."""


class MomentItem(MVProjectItem):
    """The documents' model by somebody who takes them at their word: `createdAt`: UTC datetime."""

    class Meta(MVProjectItem.Meta):
        pass

    createdAt = UTCDateTimeAttribute()  # type: ignore[assignment]  # noqa: N815
    updatedAt = UTCDateTimeAttribute()  # type: ignore[assignment]  # noqa: N815


class InDynamoDB:
    """PynamoDB for the music video, and boto3 for speech."""

    def __init__(self, url: str, prefix: str) -> None:
        import boto3

        self._client, self._prefix = dynamo_client(url), prefix
        self._resource = boto3.resource("dynamodb", **dynamo_access(url))
        for model in (MVProjectItem, MomentItem):
            model.Meta.host, model.Meta.table_name = url, prefix + "MVProjects"
            model._connection = None

    def make(self) -> None:
        MVProjectItem.create_table(billing_mode="PAY_PER_REQUEST", wait=True)
        name = self._prefix + "tts_temp_audio"
        kinds = [("date", "HASH"), ("audio_id", "RANGE")]
        self._client.create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n, _ in kinds],
            KeySchema=[{"AttributeName": n, "KeyType": k} for n, k in kinds],
        )
        ends = {"Enabled": True, "AttributeName": "ttl"}
        self._client.update_time_to_live(TableName=name, TimeToLiveSpecification=ends)

    def save(self, items: Sequence[Item]) -> None:
        for item in items:
            MVProjectItem(**item).save()

    def save_with_moments(self, item: Item) -> None:
        moment = datetime.fromisoformat(item["createdAt"])
        MomentItem(**{**item, "createdAt": moment, "updatedAt": moment, "GSI1SK": moment.isoformat()}).save()

    def write(self, table: str, items: Sequence[Item]) -> None:
        there = self._resource.Table(self._prefix + table)
        for item in items:
            there.put_item(Item={n: Decimal(str(v)) if isinstance(v, float) else v for n, v in item.items()})

    def raw(self) -> Any:
        tables = [self._prefix + name for name in ("MVProjects", "tts_temp_audio")]
        found = [self._client.scan(TableName=name)["Items"] for name in tables]
        names = [n for n in self._client.list_tables()["TableNames"] if n.startswith(self._prefix)]
        return [sorted(json.dumps(item, sort_keys=True) for item in items) for items in found], sorted(names)


_PROJECTS = """create table {projects} (
    project_id {uuid} primary key, status text not null, concept_prompt text not null,
    character_description text not null, scene_count {int} not null, completed_scenes {int} not null default 0,
    failed_scenes {int} not null default 0, created_at {moment} not null, updated_at {moment} not null,
    owner_email text)"""
_SCENES = """create table {scenes} (
    project_id {uuid} not null, sequence {int} not null, status text not null, prompt text not null,
    negative_prompt text, duration {float} not null, reference_image_s3_keys {json}, video_clip_s3_key text,
    needs_lip_sync {flag} not null, retry_count {int} not null, created_at {moment} not null,
    updated_at {moment} not null, primary key (project_id, sequence))"""
_AUDIOS = """create table {audios} (
    date {day} not null, audio_id {uuid} not null, s3_key text not null, s3_url text, text text not null,
    voice_id text not null, duration {float} not null, file_size_bytes {int} not null, ip_address text not null,
    created_at {moment} not null, created_at_unix {int} not null, ttl {int} not null, status text,
    error_message text, primary key (date, audio_id))"""


class InSql:
    """Tables made by hand, with the columns that the documents have and no others."""

    kinds: dict[str, str]
    mark = "?"

    def make(self) -> None:
        with self.connected() as connection:
            for text in (_PROJECTS, _SCENES, _AUDIOS):
                connection.execute(text.format(**self.kinds))

    def save(self, items: Sequence[Item]) -> None:
        self.write("MVProjects", items)

    def save_with_moments(self, item: Item) -> None:
        moment = item["createdAt"].replace("Z", "+00:00")
        self.save([{**item, "createdAt": moment, "updatedAt": moment}])

    def write(self, table: str, items: Sequence[Item]) -> None:
        with self.connected() as connection:
            for item in items:
                row = as_row(item)
                kind = (
                    {"project": "projects", "scene": "scenes"}[item["entityType"]] if "entityType" in item else "audios"
                )
                into = f"insert into {self.kinds[kind]} ({', '.join(row)}) values ({', '.join([self.mark] * len(row))})"
                connection.execute(into, tuple(row.values()))

    def raw(self) -> Any:
        with self.connected() as connection:
            names = [self.kinds[kind] for kind in ("projects", "scenes", "audios")]
            return [sorted(connection.execute(f"select * from {n}").fetchall(), key=repr) for n in names], self.tables()

    @contextmanager
    def connected(self) -> Iterator[Any]:
        raise NotImplementedError

    def tables(self) -> Any:
        raise NotImplementedError


class InSqlite(InSql):
    kinds = {
        "projects": "musicvideo_projects",
        "scenes": "musicvideo_scenes",
        "audios": "speech_temp_audio",
        **dict.fromkeys(("uuid", "moment", "day", "json"), "text"),
        **dict.fromkeys(("int", "flag"), "integer"),
        "float": "real",
    }

    def __init__(self, path: str) -> None:
        self._path = path

    @contextmanager
    def connected(self) -> Iterator[Any]:
        with closing(sqlite3.connect(self._path)) as connection, connection:
            yield connection

    def tables(self) -> Any:
        with self.connected() as connection:
            return sorted(connection.execute("select name, sql from sqlite_master").fetchall())


class InPostgres(InSql):
    kinds = {
        "projects": "musicvideo.projects",
        "scenes": "musicvideo.scenes",
        "audios": "speech.temp_audio",
        "uuid": "uuid",
        "moment": "timestamptz",
        "day": "date",
        "json": "jsonb",
        "int": "bigint",
        "flag": "boolean",
        "float": "double precision",
    }
    mark = "%s"

    def __init__(self, url: str) -> None:
        self._url = url

    def make(self) -> None:
        with self.connected() as connection:
            connection.execute("create schema musicvideo; create schema speech")
        super().make()

    @contextmanager
    def connected(self) -> Iterator[Any]:
        with psycopg.connect(self._url) as connection:
            yield connection

    def tables(self) -> Any:
        with self.connected() as connection:
            found = "select table_schema, table_name, column_name from information_schema.columns"
            return sorted(connection.execute(f"{found} where table_schema !~ '^pg_'").fetchall())


def others_beside(engine_name: str, engine: Engine, url: str) -> Others:
    """Those who write where an engine reads."""
    if engine_name == "sqlite":
        return InSqlite(url)
    return InPostgres(url) if engine_name == "postgres" else InDynamoDB(url, engine._prefix)  # type: ignore[attr-defined]
