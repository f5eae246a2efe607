"""The page of a link: the item's files and what was said of them, without a script, for any browser."""

from __future__ import annotations

from html import escape

from penstock.web.reviewing.review_bodies import NotePage, NoteView, ReplyView, ReviewFileView, ReviewItemView

GUEST_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex",
}
"Nothing is loaded, nobody is told where it was, and no cache or search engine keeps it."
_STYLE = "body{font:1rem/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}"


def guest_page(item: ReviewItemView, notes: NotePage) -> str:
    """Everything in it that somebody wrote is text, whatever it looks like."""
    files = "".join(f"<li>{_file(each)}</li>" for each in item.files)
    threads = "".join(f"<li>{_thread(each)}</li>" for each in notes.items)
    title = escape(item.title)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{_STYLE}</style><main><h1>{title}</h1>"
        f"<h2>Files</h2><ul>{files or '<li>none</li>'}</ul>"
        f"<h2>Notes</h2><ul>{threads or '<li>none</li>'}</ul></main></html>"
    )


def _file(file: ReviewFileView) -> str:
    title = escape(file.title)
    if file.url is None:
        return f"{title} (not there)"
    return f'<a href="{escape(file.url)}" rel="noreferrer">{title}</a>'


def _thread(note: NoteView) -> str:
    replies = "".join(f"<li>{_said(each)}</li>" for each in note.first_replies)
    first = "<i>deleted</i>" if note.deleted else _said(note)
    return f"{first}<ul>{replies}</ul>" if replies else first


def _said(note: ReplyView) -> str:
    return f"<b>{escape(note.author)}</b>: {escape(note.text)}"
