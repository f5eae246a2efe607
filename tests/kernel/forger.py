"""Somebody who changes records behind Penstock's back: with SQL, or with boto3."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any, Protocol

import pytest

from penstock import Store
from penstock.declare.entity import Entity
from penstock.schema.kinds import instant_text
from penstock.schema.shape import EntityShape


class Forger(Protocol):
    def alter(self, record: Entity, **values: Any) -> None:
        """Change fields of a stored record; None removes a value."""
        ...

    def remove(self, record: Entity) -> None: ...


def hire_forger(store: Store, engine_name: str, folder: Path, request: pytest.FixtureRequest) -> Forger:
    """A forger with access to the very database of a store."""
    if engine_name == "sqlite":
        return SqliteForger(folder / "store.db")
    if engine_name == "postgres":
        return PostgresForger(store.engine.connector.url)  # type: ignore[attr-defined]
    url = request.getfixturevalue(engine_name.replace("-", "_") + "_server").url
    return DynamoForger(url, store.engine._prefix)  # type: ignore[attr-defined]


class SqliteForger:
    def __init__(self, file: Path) -> None:
        self._file = file

    def alter(self, record: Entity, **values: Any) -> None:
        sets = ", ".join(f'"{name}" = ?' for name in values)
        where, key = self._key(record)
        new = [json.dumps(v) if isinstance(v, dict | list) else v for v in values.values()]
        self._run(f"update {_table(record, '_')} set {sets} where {where}", [*new, *key])

    def remove(self, record: Entity) -> None:
        where, key = self._key(record)
        self._run(f"delete from {_table(record, '_')} where {where}", key)

    def _key(self, record: Entity) -> tuple[str, list[Any]]:
        key = record.ref.key
        fields = record.__shape__.fields
        values = [instant_text(v, fields[n].digits) if hasattr(v, "tzinfo") else v for n, v in key.items()]
        return " and ".join(f'"{n}" = ?' for n in key), values

    def _run(self, statement: str, values: list[Any]) -> None:
        connection = sqlite3.connect(self._file)
        with connection:
            assert connection.execute(statement, values).rowcount == 1
        connection.close()


class PostgresForger:
    def __init__(self, url: str) -> None:
        self._url = url

    def alter(self, record: Entity, **values: Any) -> None:
        from psycopg.types.json import Jsonb

        sets = ", ".join(f'"{name}" = %s' for name in values)
        new = [Jsonb(v) if isinstance(v, dict | list) else v for v in values.values()]
        self._run(
            f"update {_table(record, '.')} set {sets} where {self._where(record)}", [*new, *record.ref.key.values()]
        )

    def remove(self, record: Entity) -> None:
        self._run(f"delete from {_table(record, '.')} where {self._where(record)}", list(record.ref.key.values()))

    def _where(self, record: Entity) -> str:
        return " and ".join(f'"{n}" = %s' for n in record.ref.key)

    def _run(self, statement: str, values: list[Any]) -> None:
        import psycopg

        with psycopg.connect(self._url, autocommit=True) as connection:
            assert connection.execute(statement.encode(), values).rowcount == 1


class DynamoForger:
    def __init__(self, url: str, prefix: str) -> None:
        import boto3

        self._resource = boto3.resource(
            "dynamodb",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        self._prefix = prefix

    def alter(self, record: Entity, **values: Any) -> None:
        table = self._resource.Table(self._prefix + record.__shape__.table.name)
        item = table.get_item(Key=self._key(record))["Item"]
        item.update(values)
        table.put_item(Item={n: v for n, v in item.items() if v is not None})

    def remove(self, record: Entity) -> None:
        table = self._resource.Table(self._prefix + record.__shape__.table.name)
        assert table.delete_item(Key=self._key(record), ReturnValues="ALL_OLD")["Attributes"]

    def _key(self, record: Entity) -> dict[str, str]:
        key = record.__shape__.key
        assert key.sort is not None
        return {"PK": key.partition.encode(record.__dict__), "SK": key.sort.encode(record.__dict__)}


def _table(record: Entity, between: str) -> str:
    shape: EntityShape = record.__shape__
    return f"{shape.domain}{between}{shape.relation}"
