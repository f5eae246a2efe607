"""The glossary is in order, has the words of the house, and names classes that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "glossary.md"
_ENTRY = re.compile(r"^\*\*(?P<word>[^*]+)\*\*(?: \((?P<classes>[^)]*)\))?: \S", re.MULTILINE)

WORDS = {
    *("Entity", "Move", "Pattern", "Lease", "Claim", "Replay", "Outbox", "Relay", "Feed", "Reaper", "Seal", "Duty"),
    *("Trail", "Scope", "Task", "TaskContext", "Attempt", "Pipeline", "Gate", "DomainPlugin", "DomainContext"),
    *("Dead letter", "Heartbeat"),
}


def _entries() -> dict[str, list[str]]:
    return {e["word"]: re.findall(r"`(\w+)`", e["classes"] or "") for e in _ENTRY.finditer(PAGE.read_text())}


def test_every_class_that_an_entry_names_is_there() -> None:
    """Wherever it lies: classes may move, and the glossary need not know."""
    trees = (ast.parse(file.read_text()) for file in (ROOT / "src" / "penstock").rglob("*.py"))
    there = {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    named = {name: word for word, classes in _entries().items() for name in classes}
    assert {name: word for name, word in named.items() if name not in there} == {}
    assert len(named) > 50


def test_the_words_of_the_house_are_explained() -> None:
    assert WORDS - _entries().keys() == set()


def test_entries_are_alphabetical_and_each_is_one() -> None:
    words = [e["word"] for e in _ENTRY.finditer(PAGE.read_text())]
    assert words == sorted(words, key=str.lower)
    assert len(words) == len(set(words)) == PAGE.read_text().count("\n**")


def test_entries_are_short() -> None:
    """One or two sentences, and what others call it."""
    paragraphs = [p for p in PAGE.read_text().split("\n\n") if p.startswith("**")]
    assert [p for p in paragraphs if len(p) > 400] == []
