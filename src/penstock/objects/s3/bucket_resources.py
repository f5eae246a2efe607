"""A bucket as CloudFormation has it, and what is done with its files, as policies name it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.objects.s3.page_origins import page_rule

FILES = ("s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts")
LISTS = ("s3:ListBucket",)
"Also to be told that a file is not there: without it S3 says that it may not be asked for."
SWEEPS = ("s3:ListBucketMultipartUploads",)
FORMER_DAYS = 30
"For which what was overwritten or deleted can be had back."
_UNFINISHED_DAYS = 2


def bucket_resource(name: str | None, *, origins: Sequence[str], expiries: Mapping[str, int]) -> dict[str, Any]:
    """A bucket that keeps former versions, is encrypted, and is open to nobody; files of a prefix end after days."""
    properties: dict[str, Any] = {
        "BucketEncryption": {
            "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
        },
        "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
        "PublicAccessBlockConfiguration": {
            "BlockPublicAcls": True,
            "BlockPublicPolicy": True,
            "IgnorePublicAcls": True,
            "RestrictPublicBuckets": True,
        },
        "VersioningConfiguration": {"Status": "Enabled"},
        "CorsConfiguration": {"CorsRules": [_cors(page_rule(origins))]},
        "LifecycleConfiguration": {"Rules": [_usual(), *(_expiry(*each) for each in sorted(expiries.items()))]},
    }
    if name is not None:
        properties["BucketName"] = name
    return {
        "Type": "AWS::S3::Bucket",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": properties,
    }


def bucket_policy(bucket: str) -> dict[str, Any]:
    """Whoever comes without TLS is refused, whatever else lets them in."""
    statement = {
        "Sid": "OnlyWithTls",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [{"Fn::GetAtt": [bucket, "Arn"]}, {"Fn::Sub": f"${{{bucket}.Arn}}/*"}],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    return {
        "Type": "AWS::S3::BucketPolicy",
        "Properties": {
            "Bucket": {"Ref": bucket},
            "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        },
    }


def _cors(rule: Mapping[str, Any]) -> dict[str, Any]:
    named = {"ID": "Id", "ExposeHeaders": "ExposedHeaders", "MaxAgeSeconds": "MaxAge"}
    return {named.get(name, name): value for name, value in rule.items()}


def _usual() -> dict[str, Any]:
    return {
        "Id": "penstock-former-versions",
        "Status": "Enabled",
        "NoncurrentVersionExpiration": {"NoncurrentDays": FORMER_DAYS},
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": _UNFINISHED_DAYS},
        "ExpiredObjectDeleteMarker": True,
    }


def _expiry(prefix: str, days: int) -> dict[str, Any]:
    return {
        "Id": f"penstock-{prefix.strip('/').replace('/', '-')}",
        "Status": "Enabled",
        "Prefix": prefix,
        "ExpirationInDays": days,
        "NoncurrentVersionExpiration": {"NoncurrentDays": 1},
    }
