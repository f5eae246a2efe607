"""Every object store has the methods of the protocols, and every promise of the suites is run."""

from __future__ import annotations

import inspect
from collections import Counter

import pytest

from penstock.objects import LocalObjects
from penstock.objects.s3 import S3Objects
from penstock.ports.object_store import Objects, ObjectStore, Presigner
from penstock.testing import EngineSuite, ObjectSuite, list_differences


def verbs(protocol: type) -> list[tuple[type, str]]:
    return [(protocol, n) for n, m in vars(protocol).items() if inspect.isfunction(m) and not n.startswith("_")]


@pytest.mark.parametrize("store", [LocalObjects, S3Objects])
@pytest.mark.parametrize(("protocol", "verb"), [*verbs(Objects), *verbs(Presigner)])
def test_a_verb_takes_what_the_protocol_says(store: type, protocol: type, verb: str) -> None:
    wanted = inspect.signature(getattr(protocol, verb)).parameters
    found = inspect.signature(getattr(store, verb)).parameters
    assert list(found) == list(wanted)
    for name, parameter in wanted.items():
        assert found[name].kind is parameter.kind
        if parameter.default is not ...:
            assert found[name].default == parameter.default


def test_both_are_whole_object_stores(local: LocalObjects) -> None:
    store: ObjectStore = local  # which the type checker proves
    assert store is local


@pytest.mark.parametrize("suite", [EngineSuite, ObjectSuite])
def test_no_promise_hides_another_of_the_same_name(suite: type) -> None:
    names = Counter(
        name for base in suite.__mro__ for name in vars(base) if name.startswith("test_") and callable(vars(base)[name])
    )
    assert [name for name, times in names.items() if times > 1] == []


def test_object_stores_differ_nowhere() -> None:
    """Should one have to, the page of differences must list it."""
    assert list(list_differences(ObjectSuite)) == []
