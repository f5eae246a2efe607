"""The reference of settings, written from the tables that declare them.

python -m penstock.cli.reference > docs/reference/settings.md
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.cli.terminal import all_settings
from penstock.declare.setting import Setting
from penstock.plugin import DomainPlugin
from penstock.runtime.discovery import discover
from penstock.runtime.settings import Settings

_HEAD = """
# Settings

A setting is an environment variable. Where it is not set, it is looked for in a file `.env` (`NAME=value` a line, and
perhaps `# a comment`) and then in `penstock.toml`, both in the folder one works in:

```toml
[penstock]
store = "postgresql://penstock@db/penstock"
trusted_proxies = ["10.0.0.0/8"]

[environment]
DYNAMODB_TABLE_NAME = "Mine"
```

`[penstock]` has the short names below (which may also stand before any table), `[environment]` any variable. A name
that nothing reads is told, with the one that was perhaps meant. What the command line says (`--store`, `--objects`,
`--domain`, …) goes before all of them. Some settings have other names as well, those of the documents that the domains
were made from: they count where our own is not set, in the order in which they are listed. `penstock doctor` shows what
was found.

DynamoDB and S3 are reached as by AWS's own tools: what a URL and the settings below leave open (credentials, profile,
region, `AWS_ENDPOINT_URL_DYNAMODB`, `AWS_ENDPOINT_URL_S3`) comes from where those look.
"""


def settings_page(installed: Sequence[DomainPlugin]) -> str:
    """The whole page."""
    return _HEAD.lstrip() + "".join(_section(title, found) for title, found in all_settings(installed))


def _section(title: str, found: Sequence[Setting]) -> str:
    if any(s.name for s in found):
        head = "| variable | in `[penstock]` | default | |\n|---|---|---|---|\n"
    else:
        head = "| variable | default | |\n|---|---|---|\n"
    return f"\n## {title}\n\n{head}{''.join(map(_row, found))}"


def _row(setting: Setting) -> str:
    cells = [
        f"`{setting.variable}`",
        *([f"`{setting.name}`"] if setting.name else []),
        _default(setting),
        _told(setting),
    ]
    return f"| {' | '.join(cells)} |\n"


def _default(setting: Setting) -> str:
    return "" if setting.default in (None, ()) else f"`{setting.default}`"


def _told(setting: Setting) -> str:
    others = [
        f"`{name}`" + (f" as `{form.format(name)}`" if form != "{}" else "") for name, form in setting.also.items()
    ]
    return f"{setting.help} Also {', then '.join(others)}." if others else setting.help


if __name__ == "__main__":
    print(settings_page(discover(Settings())), end="")
