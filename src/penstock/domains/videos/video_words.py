"""What is said of a video, whoever says it and whenever: checked by the same rules when it is announced and edited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.domains.videos.model import Video, VideoTag
from penstock.domains.videos.tagging import checked_tags
from penstock.errors import InvalidValue

LONGEST_TITLE, LONGEST_CATEGORY = 500, 100
EDITABLE = frozenset({"title", "category", "tags"})


def checked_words(said: Mapping[str, Any]) -> dict[str, Any]:
    """Title, category and tags as they are kept, of those that are said; InvalidValue for what nobody could ask for."""
    kept = dict(said)
    if "title" in said:
        _check_length("title", said["title"], LONGEST_TITLE)
    if said.get("category") is not None:
        _check_length("category", said["category"], LONGEST_CATEGORY)
        Video.newest_of_category(category=said["category"])
    if "tags" in said:
        kept["tags"] = checked_tags(said["tags"])
        for each in kept["tags"] or ():
            VideoTag.of_tag(tag=each)
    return kept


def spoken(words: str) -> str:
    """Words that say something; ValueError where there are only blanks."""
    if not words.strip():
        raise ValueError("there is nothing in it but blanks; write something, or leave it out")
    return words


def _check_length(name: str, words: str | None, most: int) -> None:
    if words is None or not words.strip():
        raise InvalidValue(f"the {name} of a video has at least one character that is no blank")
    if len(words) > most:
        raise InvalidValue(f"the {name} {words[:20]!r}… has {len(words)} characters; at most {most}")
