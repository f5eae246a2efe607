"""The documents' own model of the table, in PynamoDB."""

# ruff: noqa: N815 - PynamoDB's attributes are named as the documents' are

from __future__ import annotations

from typing import Any

from pynamodb.attributes import BooleanAttribute, ListAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model


class StatusIndex(GlobalSecondaryIndex["MVProjectItem"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "status-created-index"
        projection = AllProjection()

    GSI1PK = UnicodeAttribute(hash_key=True)
    GSI1SK = UnicodeAttribute(range_key=True)


class MVProjectItem(Model):
    class Meta:
        table_name = "MVProjects"
        region = "us-east-1"
        aws_access_key_id = "test"
        aws_secret_access_key = "test"
        host: str | None = None

    PK = UnicodeAttribute(hash_key=True)
    SK = UnicodeAttribute(range_key=True)
    entityType = UnicodeAttribute()
    projectId = UnicodeAttribute()
    status = UnicodeAttribute()
    conceptPrompt = UnicodeAttribute(null=True)
    characterDescription = UnicodeAttribute(null=True)
    sceneCount = NumberAttribute(null=True)
    completedScenes = NumberAttribute(null=True)
    failedScenes = NumberAttribute(null=True)
    sequence = NumberAttribute(null=True)
    prompt = UnicodeAttribute(null=True)
    negativePrompt = UnicodeAttribute(null=True)
    duration = NumberAttribute(null=True)
    referenceImageS3Keys: ListAttribute[Any] = ListAttribute(null=True)
    videoClipS3Key = UnicodeAttribute(null=True)
    needsLipSync = BooleanAttribute(null=True)
    lipSyncedVideoClipS3Key = UnicodeAttribute(null=True)
    retryCount = NumberAttribute(null=True)
    createdAt = UnicodeAttribute()
    updatedAt = UnicodeAttribute()
    GSI1PK = UnicodeAttribute(null=True)
    GSI1SK = UnicodeAttribute(null=True)
    status_index = StatusIndex()
