"""What the routes of music videos share: who asks, and the files of a form."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request, UploadFile

from penstock.auth.caller import Caller, caller_of


def who_asks(request: Request) -> Caller:
    """Whoever the service has let in."""
    return caller_of(request)


Who = Annotated[Caller, Depends(who_asks)]


def received(upload: UploadFile, into: Path) -> Path:
    """A file of a form, in a folder."""
    with into.open("wb") as file:
        shutil.copyfileobj(upload.file, file)
    return into
