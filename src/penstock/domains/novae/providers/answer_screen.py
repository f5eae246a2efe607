"""Answers of the Virtual Observatory, looked at before they are read: what is wrong with one is told of its host."""

from __future__ import annotations

from typing import Any

from penstock.astronomy.judgement import FileFinding
from penstock.astronomy.votable_screen import (
    USUAL_VOTABLE,
    UnsafeVotable,
    VotableFault,
    VotableLimits,
    screen_votable,
)
from penstock.domains.novae.providers.provider import UnusableAnswer

__all__ = ["USUAL_VOTABLE", "VotableLimits", "looks_like_a_page", "screen", "unusable"]

_PAGE_BEGINS = (b"<!doctype html", b"<html", b"<head", b"<body")
_CODES = {
    VotableFault.ENTITIES: "ANSWER_HAS_ENTITIES",
    VotableFault.DEPTH: "ANSWER_TOO_DEEP",
    VotableFault.ROWS: "TOO_MANY_ROWS",
    VotableFault.SIZE: "ANSWER_TOO_LARGE",
    VotableFault.ELSEWHERE: "ANSWER_IS_ELSEWHERE",
    VotableFault.MALFORMED: "ANSWER_MALFORMED",
    VotableFault.NO_VOTABLE: "ANSWER_IS_NO_VOTABLE",
}


def looks_like_a_page(content: bytes) -> bool:
    """Is it a page for people?"""
    begin = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    while begin.startswith(b"<!--") and (end := begin.find(b"-->")) > 0:
        begin = begin[end + 3 :].lstrip()
    return begin.startswith(_PAGE_BEGINS) or (begin.startswith(b"<?xml") and b"<html" in begin)


def screen(content: bytes, *, host: str, limits: VotableLimits = USUAL_VOTABLE) -> None:
    """UnusableAnswer if it is no VOTable that may be read."""
    if looks_like_a_page(content):
        raise unusable("ANSWER_IS_A_PAGE", host, "answered with a page for people and not with a VOTable")
    if len(content) > limits.bytes:
        raise unusable("ANSWER_TOO_LONG", host, f"answered with more than {limits.bytes} bytes", bytes=len(content))
    try:
        screen_votable(content, limits)
    except UnsafeVotable as unsafe:
        raise unusable(_CODES[unsafe.fault], host, f"answered with {unsafe.what}", **unsafe.details) from None


def unusable(code: str, host: str, what: str, **details: Any) -> UnusableAnswer:
    """What cannot be used of an answer, and what to do about it."""
    message = f"{host} {what}; ask there by hand, or take it out of the settings"
    return UnusableAnswer(FileFinding(code, message, {"host": host, **details}))
