"""Papers from the Astrophysics Data System, or whoever speaks its JSON; page by page, so many pages.

The token goes to the configured origin and nowhere else, and is in no message: see `ProviderService`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from penstock.astronomy.judgement import FileFinding
from penstock.domains.novae.providers.answer_screen import unusable
from penstock.domains.novae.providers.json_answer import json_object
from penstock.domains.novae.providers.paper_reading import is_bibcode, read_paper
from penstock.domains.novae.providers.provider import BadPaper, Bibliography, Paper
from penstock.domains.novae.providers.told_value import told_value
from penstock.generation.provider_http import ProviderService

_FIELDS = "bibcode,title,author,pubdate,doi,pub"
_ROWS, _MOST_PAGES = 200, 20
_AT_ONCE = 40
"Bibcodes of one question."
_MOST_NAMES = 20


@dataclass(frozen=True, slots=True)
class AdsBibliography:
    """A bibliography elsewhere; ``url`` is that of its API, such as https://host/v1."""

    url: str
    service: ProviderService
    rows: int = _ROWS
    pages: int = _MOST_PAGES

    def papers(self, names: Sequence[str] = (), bibcodes: Sequence[str] = ()) -> Iterator[Paper | BadPaper]:
        """The papers with these bibcodes and those about these names, each once."""
        yield from self._unasked(names, bibcodes)
        seen: set[str] = set()
        for question in self._questions(names, bibcodes):
            for each in self._answers(question):
                if isinstance(each, BadPaper):
                    yield each
                elif each.reference_id not in seen:
                    seen.add(each.reference_id)
                    yield each

    def _unasked(self, names: Sequence[str], bibcodes: Sequence[str]) -> Iterator[BadPaper]:
        """What is not asked for, and why."""
        if len(names) > _MOST_NAMES:
            message = f"papers about {len(names)} names were wanted, and {_MOST_NAMES} are asked for; ask in parts"
            yield BadPaper(FileFinding("TOO_MANY_NAMES", message, {"names": len(names)}))
        for each in bibcodes:
            if not is_bibcode(each):
                message = f"a paper by the bibcode {told_value(each)} was wanted, which is none; it is not asked for"
                yield BadPaper(FileFinding("BAD_BIBCODE", message, {"bibcode": told_value(each)}))

    def _questions(self, names: Sequence[str], bibcodes: Sequence[str]) -> Iterator[str]:
        left = iter(dict.fromkeys(each for each in bibcodes if is_bibcode(each)))
        while asked := list(islice(left, _AT_ONCE)):
            yield f"bibcode:({' OR '.join(map(_quoted, asked))})"
        for name in dict.fromkeys(names[:_MOST_NAMES]):
            if (quoted := _quoted(name)) != '""':
                yield f"object:{quoted} OR title:{quoted} OR abstract:{quoted}"

    def _answers(self, question: str) -> Iterator[Paper | BadPaper]:
        start = 0
        for _ in range(self.pages):
            docs, total = self._page(question, start)
            for doc in docs:
                yield read_paper(doc, source=self.service.host)
            start += len(docs)
            if start >= total or not docs:
                return
        message = f"{self.service.host} has {total} papers for one question, and {start} were read; ask for fewer names"
        yield BadPaper(FileFinding("OVERFLOW", message, {"source": self.service.host, "read": start, "there": total}))

    def _page(self, question: str, start: int) -> tuple[list[Any], int]:
        asked = {"q": question, "fl": _FIELDS, "rows": self.rows, "start": start, "sort": "date asc, bibcode asc"}
        answer = json_object(self.service, f"{self.url.rstrip('/')}/search/query?{urlencode(asked)}")
        told = answer.get("response")
        docs, total = (told.get("docs"), told.get("numFound")) if isinstance(told, dict) else (None, None)
        if not isinstance(docs, list) or not isinstance(total, int) or isinstance(total, bool):
            raise unusable(
                "ANSWER_MALFORMED", self.service.host, "answered without response.docs and response.numFound"
            )
        return docs[: self.rows], total


@dataclass(frozen=True, slots=True)
class BibliographyChain:
    """Bibliographies in turn: a bibcode that one knows is not asked of those after it."""

    libraries: tuple[Bibliography, ...]

    def papers(self, names: Sequence[str] = (), bibcodes: Sequence[str] = ()) -> Iterator[Paper | BadPaper]:
        """What each of them knows, each paper once."""
        known: set[str] = set()
        for library in self.libraries:
            for each in library.papers(names, [bibcode for bibcode in bibcodes if bibcode not in known]):
                if isinstance(each, BadPaper):
                    yield each
                elif each.reference_id not in known:
                    known.add(each.reference_id)
                    yield each


def _quoted(text: str) -> str:
    """A phrase that is nothing but a phrase."""
    plain = "".join(c if c.isprintable() and c not in '"\\' else " " for c in text)
    return f'"{" ".join(plain.split())[:200]}"'
