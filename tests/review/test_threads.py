"""Threads under random histories: what is listed and counted is what a plain model has, whoever did what."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from penstock import Store
from penstock.errors import PenstockError
from penstock.review import noting
from penstock.review.note import Note, NoteStatus, ReviewedRecord
from penstock.review.noting import NewNote, NoteAuthor, find_note
from penstock.review.pin import Pin
from tests.review.shots import DOMAIN, subject

AUTHORS = [NoteAuthor("ann#1", "ann"), NoteAuthor("bob#2", "bob"), NoteAuthor("root#3", "root", is_admin=True)]
DEEDS = st.tuples(
    st.sampled_from(["write", "reply", "edit", "resolve", "reopen", "delete", "delete reply"]),
    st.integers(0, 1),  # few threads with few replies, so that they are met in every state
    st.integers(0, 1),
    st.sampled_from(range(len(AUTHORS))),
    st.integers(0, 3),
)
_names = itertools.count()


@dataclass
class Said:
    """A note as the model has it."""

    id: str
    author: str
    text: str
    position: int = 0
    is_open: bool = True
    is_blank: bool = False
    replies: list[Said] = field(default_factory=list)


@pytest.fixture
def furnished(anywhere: Store) -> Store:
    anywhere.ensure(DOMAIN)
    return anywhere


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(DEEDS, min_size=5, max_size=25))
@example([("write", 0, 0, 2, 0), ("reply", 0, 0, 2, 0), ("delete", 0, 0, 2, 0), ("delete reply", 0, 0, 2, 0)])
@example([("write", 0, 0, 2, 0), ("reply", 0, 0, 2, 0), ("resolve", 0, 0, 2, 0), ("delete", 0, 0, 2, 0)])
def test_threads_are_what_a_model_says(furnished: Store, deeds: list[tuple[str, int, int, int, int]]) -> None:
    store, shot = furnished, subject(furnished, f"shot {next(_names)}")
    model: list[Said] = []
    for number, (verb, thread, reply, who, place) in enumerate(deeds):
        author, text = AUTHORS[who], f"text {number}"
        said = model[thread] if thread < len(model) else None
        answer = said.replies[reply] if said is not None and reply < len(said.replies) else None
        try:
            with store.change(by=author.id) as change:
                if verb == "write":
                    pin = Pin(time_ms=place) if place else None
                    made = noting.write(change, shot, author, NewNote(text, pin=pin))
                elif said is None:
                    continue
                elif verb == "reply":
                    made = noting.reply(change, shot, author, said.id, text)
                elif verb == "delete reply":
                    if answer is None:
                        continue
                    noting.delete(change, shot, author, find_note(store, shot, answer.id, thread_id=said.id))
                else:
                    note = find_note(store, shot, said.id)
                    if verb == "edit":
                        noting.edit(change, shot, author, note, version=note.version, text=text)
                    elif verb == "delete":
                        noting.delete(change, shot, author, note)
                    else:
                        getattr(noting, verb)(change, shot, author, note, version=note.version)
        except PenstockError:
            assert not _allowed(verb, said, answer, author), (verb, said, author)
            continue
        assert _allowed(verb, said, answer, author), (verb, said, author)
        if verb == "write":
            model.append(Said(made.note_id, author.id, text, position=place * 1000))
        elif said is not None:
            _follow(model, verb, said, answer, made if verb == "reply" else None, author, text)
    _compare(store, shot.about, model)


def _allowed(verb: str, said: Said | None, answer: Said | None, author: NoteAuthor) -> bool:
    if verb == "write" or said is None:
        return True
    if verb == "reply":
        return True
    if verb == "delete reply":
        return answer is not None and (author.is_admin or answer.author == author.id)
    if said.is_blank:
        return False
    return {
        "edit": said.author == author.id,
        "delete": author.is_admin or said.author == author.id,
        "resolve": said.is_open,
        "reopen": not said.is_open,
    }[verb]


def _follow(
    model: list[Said],
    verb: str,
    said: Said,
    answer: Said | None,
    made: Note | None,
    author: NoteAuthor,
    text: str,
) -> None:
    if verb == "reply" and made is not None:
        said.replies.append(Said(made.note_id, author.id, text))
    elif verb == "edit":
        said.text = text
    elif verb in ("resolve", "reopen"):
        said.is_open = verb == "reopen"
    elif verb == "delete reply" and answer is not None:
        said.replies.remove(answer)
        if said.is_blank and not said.replies:
            model.remove(said)
    elif verb == "delete" and said.replies:
        said.is_blank, said.text = True, ""
    elif verb == "delete":
        model.remove(said)


def _compare(store: Store, about: str, model: list[Said]) -> None:
    oldest = list(store.find(Note.oldest_threads(begins=about)))
    assert [(n.note_id, n.text, n.replies) for n in oldest] == [(s.id, s.text, len(s.replies)) for s in model]
    assert [n.note_id for n in store.find(Note.newest_threads(begins=about))] == [s.id for s in reversed(model)]
    in_place = [n.note_id for n in store.find(Note.threads_in_place(begins=about))]
    assert in_place == [s.id for s in sorted(model, key=lambda s: (s.position, s.id))]
    for said, note in zip(model, oldest, strict=True):
        replies = [n for n in store.find(Note.of_record(about=about, thread_id=said.id)) if not n.is_first]
        assert [(n.note_id, n.text) for n in replies] == [(r.id, r.text) for r in said.replies]
        assert said.is_blank or (note.status is NoteStatus.OPEN) == said.is_open
    known = store.lookup(ReviewedRecord.at(about=about))
    live = sum((not s.is_blank) + len(s.replies) for s in model)
    assert (live, sum(s.is_open and not s.is_blank for s in model)) == (
        (0, 0) if known is None else (known.notes, known.open_threads)
    )
