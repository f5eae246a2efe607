"""What to do about each kind of error, for the problem's ``hint`` and for the reference."""

from __future__ import annotations

from penstock.errors import PenstockError

HINTS: dict[str, str] = {
    "error": "Ask whoever runs the service; the request id finds the details in its log.",
    "address-refused": "Ask whoever runs the service; an address has to be public, or configured there.",
    "answer-not-kept": "Read the record to see what came of it; do not send the request again under another key.",
    "bad-request": "Correct what the detail names; a body has the form that its Content-Type says, JSON or multipart.",
    "batch-refused": "Read what the batch tells of each change, and repeat those that were refused.",
    "beyond-quota": "Ask for less at once; waiting does not help.",
    "body-too-large": "Send less at once; files go to a signed URL.",
    "busy": "Try again after as many seconds as the header Retry-After says, and less at once.",
    "conflict": "Read the record again and decide anew.",
    "damaged-archive": "Restore the archive from a copy; nothing was taken from it.",
    "damaged-export": "Make the export anew, or take a copy of it that is whole; nothing was imported.",
    "damaged-record": "Ask whoever runs the service to repair the record; its log says which and how.",
    "declaration": "Correct the declaration that the message names.",
    "feed-trimmed": "Read anew what you follow, then connect without Last-Event-ID.",
    "filter-too-wide": "Ask for pages, or by a pattern that finds just these records.",
    "forbidden": "Use a key with a higher role; an administrator can make one with `penstock keys create`.",
    "foreign-file": "Use an object key of this project, in one of the places its domain allows.",
    "foreign-page": "Use the service under 127.0.0.1 or localhost, or allow the origin in PENSTOCK_CORS_ORIGINS. "
    "Behind a proxy keys are needed: leave PENSTOCK_REQUIRE_KEYS out.",
    "forged-request": "Ask GET /api/session for the csrf of the session, and send it as X-CSRF-Token; with an API key "
    "none is needed.",
    "head-too-large": "Send fewer and shorter headers and parameters; much belongs into the body.",
    "http-error": "See what the detail says.",
    "illegal-move": "Make one of the moves that the detail names, or read the record again.",
    "in-progress": "Send the same request with the same Idempotency-Key a moment later; minutes, after a crash.",
    "invalid-cursor": "Start again without a cursor, or pass back `next` with the same parameters.",
    "invalid-key": "Give every part of the key, each in the form the detail says.",
    "invalid-request": "Correct the fields that are listed; /docs says what each takes.",
    "invalid-value": "Send a value that fits, as the detail says.",
    "key-reused": "Choose a new Idempotency-Key for a new request.",
    "index-incomplete": "Ask again later; whoever runs the service brings every record into the index.",
    "layout-mismatch": "Ask whoever runs the service; its log says whether the store or the service has to follow.",
    "claim-lost": "Do nothing more; another has the work now, or has done it.",
    "lease-lost": "Do nothing more; another worker has it now.",
    "method-not-allowed": "Use one of the methods that the header Allow names.",
    "misconfigured": "Ask whoever runs the service to correct its settings; `penstock doctor` says what is wrong.",
    "no-such-route": "Look at /docs for the paths there are.",
    "not-found": "Look for the record with one of its patterns; it may have expired, or be of another project.",
    "not-permitted": "Use the action that the detail names, or a key of the role it names; "
    "what is the system's alone happens by itself.",
    "not-unique": "Give the field another value; the detail names it.",
    "not-ready": "Try again in a moment; `penstock doctor` says what cannot be reached.",
    "out-of-bounds": "Take less away, or add less; the detail names the field and its bound.",
    "out-of-scope": "Use a key that is not bound to a project, or ask for what belongs to the key's own.",
    "precondition-failed": "Read the record again, look at what has changed, and send its new ETag.",
    "quota-exceeded": "Wait as many seconds as the header Retry-After says, or end something of your own first.",
    "rate-limited": "Wait as many seconds as the header Retry-After says.",
    "sign-in-refused": "Sign in with a key that works; `penstock keys create` makes one, and `penstock up` has one in "
    ".penstock/key.",
    "stale-computed": "Read the record, and write it with the fields the detail names.",
    "stale-index": "Read the whole record and write it with the fields the detail names.",
    "store-moved": "Whoever runs the service starts it on the store that its log names; send the request again then.",
    "throttled": "Try again in a moment, and less often.",
    "too-large": "Make the record smaller; put what is long into an object.",
    "too-many-streams": "Close a stream that is not needed, or connect again in a moment, with the last event's id.",
    "too-slow": "Send the request again, without a pause in the middle of it.",
    "unauthenticated": "Send a key as `Authorization: Bearer …` or X-API-Key; `penstock keys create` makes one, and "
    "`penstock up` has one in .penstock/key.",
    "unavailable": "Try again in a moment.",
    "unexpected": "Report it with the request id, which finds the details in the log.",
    "upload-refused": "Send exactly the file that was announced; reserve the upload anew if another was sent.",
    "url-refused": "Ask for a new URL; this one has ended, or is for something else.",
    "wrong-headers": "Send the headers that came with the URL, as they are, and a Content-Length.",
    "wrong-range": "Ask for bytes the object has; its size is in Content-Range.",
}


def hint_of(kind: type[PenstockError]) -> str:
    """What to do about a kind of error: its own ``hint``, as a domain's may have, or that of its nearest kind here."""
    for each in kind.__mro__:
        found = vars(each).get("hint") or HINTS.get(vars(each).get("slug", ""))
        if found is not None:
            return str(found)
    return HINTS["error"]


def hint_for(error: PenstockError) -> str:
    """What to do about an error: what it says itself, where it knows better than its kind."""
    own = vars(error).get("hint")
    return str(own) if own else hint_of(type(error))
