"""The other DynamoDB clients for Python, each in the form its users write."""

from __future__ import annotations

import asyncio
import itertools
import logging
import ssl
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import aiohttp
import boto3
import pydynox
from aiodynamo.client import Client as AioClient
from aiodynamo.credentials import Key, StaticCredentials
from aiodynamo.expressions import HashKey, RangeKey
from aiodynamo.http.aiohttp import AIOHTTP
from boto3.dynamodb.conditions import Key as KeyOf
from botocore.config import Config
from pydynox import attributes as px
from pynamodb import attributes as pn
from pynamodb.models import Model as PynamoModel
from yarl import URL

from bench import items
from bench.canned_server import last_put
from bench.contender import Canned, Contender, Operation

BASELINE = "boto3 client"
PARTITION = f"PROJECT#{items.PROJECT}"
PREFIX = "SCENE#"
CONDITION = "PK = :pk AND begins_with(SK, :sk)"


def contenders(target: Canned) -> Iterator[Contender]:
    """Every peer, the baseline first."""
    yield Boto3Client(target)
    yield Boto3Resource(target)
    yield PynamoDB(target)
    yield AioDynamo(target)
    yield PydynoxDict(target)
    yield PydynoxModel(target)


class Peer:
    """What all of them share: the target, what to put, and how to see what was put."""

    def __init__(self, target: Canned) -> None:
        self.target = target
        self.key = items.key(1)
        self.items = itertools.cycle([items.item(draft) for draft in items.drafts()])
        self.records = itertools.cycle([items.record(draft) for draft in items.drafts()])

    def plain(self, record: object) -> Mapping[str, object]:
        return items.from_item(cast("Mapping[str, object]", record))

    def written(self) -> Mapping[str, object]:
        return last_put(self.target)

    def close(self) -> None:
        """Nothing is held by default."""


class Boto3Client(Peer):
    """The plain client: items stay in DynamoDB's JSON, so its users still have to convert them."""

    name = BASELINE

    def setup(self) -> None:
        self.client = boto3_session(self.target).client("dynamodb", **boto3_options(self.target))
        self.typed_key = items.typed(self.key)
        self.typed = itertools.cycle([items.typed(items.item(draft)) for draft in items.drafts()])

    def get(self) -> object:
        return self.client.get_item(TableName=self.target.table, Key=self.typed_key)["Item"]

    def put(self) -> None:
        self.client.put_item(TableName=self.target.table, Item=next(self.typed))

    def query(self) -> Sequence[object]:
        values = {":pk": {"S": PARTITION}, ":sk": {"S": PREFIX}}
        page = self.client.query(
            TableName=self.target.table, KeyConditionExpression=CONDITION, ExpressionAttributeValues=values
        )
        return cast("Sequence[object]", page["Items"])

    def plain(self, record: object) -> Mapping[str, object]:
        return super().plain(items.untyped(cast("dict[str, dict[str, object]]", record)))

    def close(self) -> None:
        self.client.close()


class Boto3Resource(Peer):
    """The resource, which converts to Python values, numbers to Decimal."""

    name = "boto3 resource"

    def setup(self) -> None:
        resource = boto3_session(self.target).resource("dynamodb", **boto3_options(self.target))
        self.table = resource.Table(self.target.table)
        # It refuses floats.
        self.decimals = itertools.cycle([items.untyped(items.typed(items.item(d))) for d in items.drafts()])

    def get(self) -> object:
        return self.table.get_item(Key=self.key)["Item"]

    def put(self) -> None:
        self.table.put_item(Item=next(self.decimals))

    def query(self) -> Sequence[object]:
        key = KeyOf("PK").eq(PARTITION) & KeyOf("SK").begins_with(PREFIX)
        return cast("Sequence[object]", self.table.query(KeyConditionExpression=key)["Items"])

    def close(self) -> None:
        self.table.meta.client.close()


class PynamoDB(Peer):
    """A model with typed attributes; timestamps stay text, its cheapest form."""

    name = "PynamoDB"

    def setup(self) -> None:
        self.model = pynamodb_model(self.target)

    def get(self) -> object:
        return self.model.get(PARTITION, "SCENE#001")

    def put(self) -> None:
        self.model(**next(self.records)).save()

    def query(self) -> Sequence[object]:
        return list(self.model.query(PARTITION, self.model.sk.startswith(PREFIX)))

    def plain(self, record: object) -> Mapping[str, object]:
        return cast("PynamoModel", record).attribute_values


class AioDynamo(Peer):
    """The asynchronous client on aiohttp; measured inside its event loop, which is the best case for it."""

    name = "aiodynamo + aiohttp"

    def setup(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.loop.run_until_complete(self._connect())

    async def _connect(self) -> None:
        trust = ssl.create_default_context(cafile=self.target.authority)
        self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust))
        credentials = StaticCredentials(Key(self.target.access_key, self.target.secret_key))
        client = AioClient(AIOHTTP(self.session), credentials, self.target.region, URL(self.target.endpoint))
        self.table = client.table(self.target.table)

    async def _get(self) -> object:
        return await self.table.get_item(self.key)

    async def _put(self) -> object:
        return await self.table.put_item(next(self.items))

    async def _query(self) -> list[object]:
        condition = HashKey("PK", PARTITION) & RangeKey("SK").begins_with(PREFIX)
        return [item async for item in self.table.query(condition)]

    def repeat(self, operation: Operation, times: int) -> None:
        calls: dict[Operation, Callable[[], Awaitable[object]]] = {
            "get": self._get,
            "put": self._put,
            "query": self._query,
        }
        call = calls[operation]

        async def loop() -> None:
            for _ in range(times):
                await call()

        self.loop.run_until_complete(loop())

    def get(self) -> object:
        return self.loop.run_until_complete(self._get())

    def put(self) -> None:
        self.loop.run_until_complete(self._put())

    def query(self) -> Sequence[object]:
        return self.loop.run_until_complete(self._query())

    def close(self) -> None:
        self.loop.run_until_complete(self.session.close())
        self.loop.close()


class PydynoxDict(Peer):
    """The client with a Rust core, giving dicts."""

    name = "pydynox dict"

    def setup(self) -> None:
        self.client = pydynox_client(self.target)

    def get(self) -> object:
        return self.client.sync_get_item(self.target.table, self.key)

    def put(self) -> None:
        self.client.sync_put_item(self.target.table, next(self.items))

    def query(self) -> Sequence[object]:
        values = {":pk": PARTITION, ":sk": PREFIX}
        return list(self.client.sync_query(self.target.table, CONDITION, expression_attribute_values=values))


class PydynoxModel(Peer):
    """The same client, giving instances of a model."""

    name = "pydynox model"

    def setup(self) -> None:
        self.model = pydynox_model(self.target)

    def get(self) -> object:
        return self.model.sync_get(pk=PARTITION, sk="SCENE#001")

    def put(self) -> None:
        self.model(**next(self.records)).sync_save()

    def query(self) -> Sequence[object]:
        return list(self.model.sync_query(PARTITION, self.model.sk.begins_with(PREFIX)))

    def plain(self, record: object) -> Mapping[str, object]:
        return {name: getattr(record, name) for name in items.WIRE}


def boto3_session(target: Canned) -> Any:
    """A session with the target's dummy credentials."""
    return boto3.Session(
        aws_access_key_id=target.access_key,
        aws_secret_access_key=target.secret_key,
        region_name=target.region,
    )


def boto3_options(target: Canned) -> dict[str, object]:
    """Where to connect, whom to trust, and not to try again."""
    config = Config(retries={"total_max_attempts": 1})
    return {"endpoint_url": target.endpoint, "verify": str(target.authority), "config": config}


def pynamodb_model(target: Canned) -> type[Any]:
    """The scene as PynamoDB declares it; made per target because the model holds the connection."""

    class Scene(PynamoModel):
        class Meta:
            table_name = target.table
            region = target.region
            host = target.endpoint
            aws_access_key_id = target.access_key
            aws_secret_access_key = target.secret_key
            max_retry_attempts = 0

        pk = pn.UnicodeAttribute(hash_key=True, attr_name="PK")
        sk = pn.UnicodeAttribute(range_key=True, attr_name="SK")
        entity_type = pn.UnicodeAttribute(attr_name="entityType")
        project_id = pn.UnicodeAttribute(attr_name="projectId")
        sequence = pn.NumberAttribute()
        status = pn.UnicodeAttribute()
        prompt = pn.UnicodeAttribute()
        negative_prompt = pn.UnicodeAttribute(null=True, attr_name="negativePrompt")
        duration = pn.NumberAttribute()
        reference_image_s3_keys: pn.ListAttribute[Any] = pn.ListAttribute(
            of=pn.UnicodeAttribute, null=True, attr_name="referenceImageS3Keys"
        )
        video_clip_s3_key = pn.UnicodeAttribute(null=True, attr_name="videoClipS3Key")
        needs_lip_sync = pn.BooleanAttribute(attr_name="needsLipSync")
        lip_synced_video_clip_s3_key = pn.UnicodeAttribute(null=True, attr_name="lipSyncedVideoClipS3Key")
        retry_count = pn.NumberAttribute(default=0, attr_name="retryCount")
        created_at = pn.UnicodeAttribute(attr_name="createdAt")
        updated_at = pn.UnicodeAttribute(attr_name="updatedAt")

    return Scene


def pydynox_client(target: Canned) -> pydynox.DynamoDBClient:
    """A client; it finds the certificate authority through SSL_CERT_FILE."""
    # On a busy machine it warns of slow operations, in the middle of our tables.
    logging.getLogger("pydynox").setLevel(logging.ERROR)
    return pydynox.DynamoDBClient(
        region=target.region,
        access_key=target.access_key,
        secret_key=target.secret_key,
        endpoint_url=target.endpoint,
        max_retries=0,
    )


def pydynox_model(target: Canned) -> type[Any]:
    """The scene as pydynox declares it."""

    class Scene(pydynox.Model):
        model_config = pydynox.ModelConfig(table=target.table, client=pydynox_client(target))

        pk = px.StringAttribute(partition_key=True, alias="PK")
        sk = px.StringAttribute(sort_key=True, alias="SK")
        entity_type = px.StringAttribute(alias="entityType")
        project_id = px.StringAttribute(alias="projectId")
        sequence = px.NumberAttribute()
        status = px.StringAttribute()
        prompt = px.StringAttribute()
        negative_prompt = px.StringAttribute(alias="negativePrompt")
        duration = px.NumberAttribute()
        reference_image_s3_keys = px.ListAttribute(alias="referenceImageS3Keys")
        video_clip_s3_key = px.StringAttribute(alias="videoClipS3Key")
        needs_lip_sync = px.BooleanAttribute(alias="needsLipSync")
        lip_synced_video_clip_s3_key = px.StringAttribute(alias="lipSyncedVideoClipS3Key")
        retry_count = px.NumberAttribute(alias="retryCount")
        created_at = px.StringAttribute(alias="createdAt")
        updated_at = px.StringAttribute(alias="updatedAt")

    return Scene
