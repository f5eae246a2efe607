"""Object keys and folders: where files lie in their bucket, never a URL that leads to one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, overload

from pydantic import AfterValidator, ValidationInfo

OBJECT_KEY_BYTES = 1024

_URL = re.compile(
    r"(?:[a-z][a-z0-9+.-]*:)?//|[a-z][a-z0-9+.-]*:/|(?:https?|ftp|s3|gs|data|blob|file|javascript):", re.IGNORECASE
)
_ARN = re.compile(r"arn:", re.IGNORECASE)
_SIGNATURE = re.compile(  # of S3 (both versions), CloudFront, Google, Azure and ourselves
    r"[?&](?:X-Amz-|AWSAccessKeyId=|Signature=|Key-Pair-Id=|Policy=|X-Goog-|GoogleAccessId=|sig=)", re.IGNORECASE
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# What some proxy or library on the way would take for a separator or for "..".
_ENCODED = re.compile(r"%(?:2e|2f|5c|00)", re.IGNORECASE)
# Nearly all keys are so plain that no more needs to be asked, except for "..".
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*")
_DOT_PART = re.compile(r"(?:^|/)\.(?:/|$)")


@overload
def validate_s3_key(key: str, field: str = ...) -> str: ...
@overload
def validate_s3_key(key: None, field: str = ...) -> None: ...
def validate_s3_key(key: str | None, field: str = "S3 key") -> str | None:
    """The key unchanged; ValueError, naming the field, for a URL or anything else that is no plain object key."""
    if key is None or (_PLAIN.fullmatch(key) and ".." not in key and len(key) <= OBJECT_KEY_BYTES):
        return key
    if _URL.match(key):
        raise ValueError(f"{field} must be an S3 key, not a URL")
    if _SIGNATURE.search(key):
        raise ValueError(f"{field} must be an S3 key, not a presigned URL")
    if _ARN.match(key):
        raise ValueError(f"{field} must be an S3 key, not an ARN")
    if problem := _problem(key):
        raise ValueError(f"{field} must be an S3 key; this one {problem}")
    return key


def _problem(key: str) -> str | None:
    if not key:
        return "is empty"
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        return "has half a character"
    if size > OBJECT_KEY_BYTES:
        return f"has more than {OBJECT_KEY_BYTES} bytes"
    if key.startswith("/"):
        return "begins with '/'"
    if key.endswith("/"):
        return "ends with '/'"
    if _CONTROL.search(key):
        return "has a control character"
    if found := _ENCODED.search(key):
        return f"contains {found.group()!r}"
    if _DOT_PART.search(key):
        return "has a part '.'"
    return next((f"contains {bad!r}" for bad in ("//", "..", "?", "\\") if bad in key), None)


def validate_folder(folder: str, field: str = "folder") -> str:
    """The folder unchanged; ValueError, naming the field, where it does not end in '/' or no file could lie in it."""
    if not folder.endswith("/"):
        raise ValueError(f"{field} must be a folder; this one does not end with '/'")
    validate_s3_key(f"{folder}_", field)  # what is wrong with it is wrong with the key of each of its files
    return folder


def folders_above(key: str) -> Iterator[str]:
    """The folders in which a file lies, the outermost first: a/ and a/b/ of a/b/c."""
    end = key.find("/")
    while end >= 0:
        yield key[: end + 1]
        end = key.find("/", end + 1)


@dataclass(frozen=True, slots=True)
class HoldsKey:
    """Marks a type whose values are object keys, or contain one in a form that ``key_of`` reads."""

    key_of: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class HoldsFolder:
    """Marks a type whose values are folders of object keys, or contain one in a form that ``key_of`` reads."""

    key_of: Callable[[str], str] = str


def _check(key: str, info: ValidationInfo) -> str:
    return validate_s3_key(key, info.field_name or "S3 key")


def _check_folder(folder: str, info: ValidationInfo) -> str:
    return validate_folder(folder, info.field_name or "folder")


ObjectKey = Annotated[str, AfterValidator(_check), HoldsKey()]
ObjectFolder = Annotated[str, AfterValidator(_check_folder), HoldsFolder()]
"""A folder, such as ``streams/7/``: whoever holds it holds every file whose key begins with it."""
