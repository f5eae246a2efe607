"""One word has one meaning: no public class and no module is called as another is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.house.rooms import SOURCE
from tests.house.statements import statements

CLASSES: dict[str, str] = {
    "Project": "two documents have projects, each their own",
}
"Class names that are used more than once, and why they may be."

MODULES: dict[str, str] = {
    "errors": "every room and every domain may have errors of its own",
    "model": "what a domain declares",
    "routes": "what a domain serves",
    "tasks": "what a domain does in the background",
    "options": "what a deployment may choose about a domain, or about the service",
    "engine": "the port, and each adapter's implementation of it",
    "audit": "the trail, and the commands about it",
    "records": "the two doors to records: routes and commands",
    "retention": "the rules, and the command that runs them",
    "reference": "the pages that are made from the code",
    "idempotency": "of changes, and of requests that make them",
    "dead_letters": "what they are, and the commands about them",
}
"Module names that are used more than once, and why they may be."


def test_no_class_has_the_name_of_another() -> None:
    found = {name: places for name, places in repeated(classes()).items() if name not in CLASSES}
    assert found == {}


def test_no_module_has_the_name_of_another() -> None:
    found = {name: places for name, places in repeated(module_names()).items() if name not in MODULES}
    assert found == {}


def test_no_exception_is_made_for_what_is_no_longer_there() -> None:
    assert CLASSES.keys() - repeated(classes()).keys() == set()
    assert MODULES.keys() - repeated(module_names()).keys() == set()
    assert len(CLASSES) <= 12
    assert len(MODULES) <= 20


def classes(source: Path = SOURCE) -> Iterator[tuple[str, str]]:
    """Public classes and where they are. Those of the shipped suites look like what users write, and are left out."""
    for path in sorted(source.rglob("*.py")):
        if path.relative_to(source).parts[0] != "testing":
            for name in statements(path).classes:
                if not name.startswith("_"):
                    yield name, path.relative_to(source).as_posix()


def module_names(source: Path = SOURCE) -> Iterator[tuple[str, str]]:
    for path in sorted(source.rglob("*.py")):
        inside = path.relative_to(source)
        if path.stem not in ("__init__", "__main__") and inside.parts[0] != "testing":
            yield path.stem, inside.as_posix()


def repeated(named: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for name, place in named:
        places[name].append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


def test_a_repeated_name_is_found(tmp_path: Path) -> None:
    for room in ("one", "two"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "line.py").write_text("class Line: ...\nclass _Own: ...\n")
    assert repeated(classes(tmp_path)) == {"Line": ["one/line.py", "two/line.py"]}
    assert repeated(module_names(tmp_path)) == {"line": ["one/line.py", "two/line.py"]}
