"""Personal fields: what may be marked, and that nothing a record says of itself tells them."""

from __future__ import annotations

import io
import json
import logging
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import new_class
from typing import Annotated, Any
from uuid import uuid4

import pytest
from pydantic import BaseModel, ValidationError
from rich.console import Console

from penstock import (
    Domain,
    Entity,
    IndexKey,
    Move,
    ObjectKey,
    Personal,
    SeenBy,
    Table,
    attribute,
    key,
    open_store,
    pattern,
    the,
)
from penstock.domains import DOMAINS
from penstock.domains.speech.model import DOMAIN as SPEECH
from penstock.domains.speech.model import SpeechJob, TempAudio
from penstock.errors import DeclarationError, InvalidValue
from penstock.kernel.handle import put
from penstock.lifecycle.archived_file import DamagedArchive
from penstock.lifecycle.bundle import line_of, record_of
from penstock.schema.role import Role
from penstock.work import TaskContext, Tasks

TABLE = Table("PersonalUnit", partition="PK", sort="SK")
BY_WORDS = TABLE.index("by-words", partition="GSI1PK", sort="GSI1SK")
BY_SECRET = TABLE.index("by-secret", partition="GSI2PK", sort="GSI2SK")
SECRET = "swordfish"


class Light(StrEnum):
    OFF = "off"
    ON = "on"


class Said(BaseModel):
    words: Personal[str]


class Diary(Entity, table=TABLE):
    name: str
    at_hour: str = "1"
    words: Personal[str]
    more: Personal[list[str] | None] = None
    maybe: Personal[str] | None = attribute("mayBe", default=None)
    number: Annotated[int, SeenBy(Role.EDITOR)] = 0
    both: Annotated[Personal[str] | None, SeenBy(Role.VIEWER)] = None
    light: Light = Light.OFF

    @key("DIARY#{name}", "DIARY")
    def at(self, *, name: str) -> None: ...

    by_words_key = IndexKey(BY_WORDS, "HOUR#{at_hour}", "{words}")
    when_on = IndexKey(BY_SECRET, "HOUR#{at_hour}", "{name}", when={"number": 1})

    @pattern(by_words_key)
    def by_hour(self, *, at_hour: str) -> None:
        """In the order of what was said."""

    @pattern(when_on)
    def first(self, *, at_hour: str) -> None:
        """Those whose number is one."""


def diary(**more: Any) -> Diary:
    return Diary(**{"name": "ann", "words": SECRET, "more": [SECRET], "maybe": SECRET, "both": SECRET, **more})


def test_a_mark_is_kept_in_the_shape_and_changes_nothing_else() -> None:
    shape = Diary.__shape__
    assert {f.name: f.personal for f in shape.personal} == {
        "words": Role.ADMIN,
        "more": Role.ADMIN,
        "maybe": Role.ADMIN,
        "number": Role.EDITOR,
        "both": Role.ADMIN,
    }
    assert (shape.fields["maybe"].attribute, shape.fields["maybe"].optional) == ("mayBe", True)
    assert diary().words == SECRET
    the(Diary.words).set("x")


def test_a_pattern_whose_order_or_whose_records_tell_something_takes_the_role_that_sees_it() -> None:
    patterns = Diary.__shape__.patterns
    assert (patterns["by_hour"].asked_by, patterns["first"].asked_by) == (Role.ADMIN, Role.EDITOR)


def test_what_guests_say_and_where_they_come_from_is_personal() -> None:
    assert {f.name for f in TempAudio.__shape__.personal} == {"text", "ip_address"}
    assert {f.name for f in SpeechJob.__shape__.personal} == {"text", "ip_address"}
    for domain in DOMAINS:
        for shape in domain.shapes:
            told = {"text", "ip_address", "email", "phone"} & shape.fields.keys()
            assert told == {f.name for f in shape.personal}, f"{shape.label} keeps something that may be personal"


# What cannot be marked


def refused(fields: dict[str, Any], because: str, **more: Any) -> None:
    def at(self: Any, *, name: str) -> None: ...

    members: dict[str, Any] = {"__module__": __name__, "__annotations__": {"name": str, **fields}}
    members |= {"at": key("X#{name}", "X")(at), **more}
    with pytest.raises(DeclarationError, match=because):
        new_class("Wrong", (Entity,), {"table": TABLE}, lambda namespace: namespace.update(members))


def test_what_is_told_everywhere_is_not_personal() -> None:
    refused({"name": Personal[str]}, r"Wrong.name cannot be personal: it is part of the key")
    refused({"project_id": Personal[str]}, "it is the project")
    refused({"file": Personal[ObjectKey]}, "it is the key of a file")
    refused({"files": Personal[list[ObjectKey]]}, "it is the key of a file")
    turn_on = Move(Light.OFF, to=Light.ON)
    refused({"light": Personal[Light]}, "it is a state", light=Light.OFF, turn_on=turn_on)


@pytest.mark.parametrize("kind", [list[Personal[str]], dict[str, Personal[str]], Said, list[Said], Personal[str] | int])
def test_a_field_is_personal_as_a_whole(kind: Any) -> None:
    refused({"part": kind}, "only a part of it is marked")


def test_a_task_is_not_given_what_is_personal() -> None:
    tasks = Tasks("own")
    with pytest.raises(DeclarationError, match="give it the key of the record"):

        @tasks.task("say")
        def say(work: TaskContext, input: Said) -> None: ...


def test_a_message_does_not_tell_what_is_personal(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    store.ensure(Domain("diaries", Diary))
    with pytest.raises(InvalidValue, match=r"words of diaries.Diary is personal") as refusal, store.change() as change:
        change.create(diary())
        change.emit("diary.written", diary(), words=SECRET)
    assert SECRET not in str(refusal.value)
    with store.change(by="ann") as change:
        written = diary()
        change.put(written)
        change.emit("diary.written", written, length=9)
    store.close()


# What is said of a record


def test_a_record_does_not_say_what_is_personal(caplog: pytest.LogCaptureFixture) -> None:
    record = diary()
    pretty = io.StringIO()
    Console(file=pretty).print(record, [record])
    logging.getLogger("tests").warning("met %s, %r and %r", record, record, {"x": record})
    for text in (repr(record), str(record), f"{[record]}", pretty.getvalue(), caplog.text):
        assert SECRET not in text
        assert "<personal>" in text
    assert "light=<Light.OFF: 'off'>" in repr(record)


def test_an_error_about_a_record_does_not_quote_it() -> None:
    for wrong in ({"number": SECRET}, {"words": [SECRET]}, {"unknown": SECRET}):
        with pytest.raises(ValidationError) as refusal:
            diary(**wrong)
        assert SECRET not in str(refusal.value)
    record = diary()
    with pytest.raises(ValidationError) as refusal:
        record.words = [SECRET]  # type: ignore[assignment]
    assert SECRET not in str(refusal.value)


def test_an_archive_keeps_a_record_whole_and_a_line_for_others_does_not() -> None:
    job = SpeechJob.begun(
        uuid4(), at=datetime(2037, 1, 1, tzinfo=UTC), text=SECRET, voice_id="v", ip_address="203.0.113.9"
    )
    entities = {e.__shape__.label: e for e in SPEECH.entities}
    assert record_of(line_of(job), entities) == job
    for role in (None, Role.VIEWER, Role.EDITOR):
        line = line_of(job, seen_by=role)
        assert json.loads(line)["record"].keys() & {"text", "ip_address"} == set()
        with pytest.raises(DamagedArchive):
            record_of(line, entities)
    assert put(job).values["text"] == SECRET
