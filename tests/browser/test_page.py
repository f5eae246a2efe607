"""A page that complains fails its test, and what fails leaves a picture."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .complaints import Complaints
from .driver import Driver
from .fixtures import judged
from .site import Site

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

COMPLAINTS = {
    "an error in the console": ("console.error('swordfish')", "console: swordfish"),
    "an error that nobody catches": ("setTimeout(() => { throw Error('swordfish') })", "uncaught: .*swordfish"),
    "a promise that nobody catches": ("void Promise.reject(Error('swordfish'))", "uncaught: .*swordfish"),
    "an answer that is an error": ("void fetch('/gone')", "answered 404: GET .*/gone"),
    "a server that is not there": ("void fetch('http://127.0.0.1:1/').catch(() => 0)", "Content Security Policy"),
    "a script from elsewhere": (
        "document.body.append(Object.assign(document.createElement('img'), {src: 'http://127.0.0.1:1/x.png'}))",
        "Content Security Policy",
    ),
    "a string that is run": ("setTimeout('0')", "uncaught|Trusted"),
}
