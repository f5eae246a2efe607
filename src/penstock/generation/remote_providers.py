"""Remote providers: steps that a deployment may have done elsewhere, each under variables that begin with its prefix.

| step | variables |
|---|---|
| `remote_writer` | …_URL, …_TOKEN, …_MODEL |
| `remote_generator` | …_URL, …_TOKEN, …_MODEL; and if need be …_FIELDS, …_INPUT, …_LENGTHS, …_PRICE, …_FILES |
| `remote_lip_sync` | …_URL, …_TOKEN, …_MODEL; and if need be …_FIELDS, …_INPUT, …_PRICE, …_FILES |

``…_FIELDS`` says what the model calls the parts of its input (``prompt=text,seconds=duration``; a part without a name
is not sent), ``…_INPUT`` is a JSON object that is sent each time, ``…_LENGTHS`` are the seconds a film may have
(``4,6,8``), ``…_PRICE`` is what a second of the model's time costs in dollars, and ``…_FILES`` are origins that its
films may be fetched from though they are private or without TLS (``http://minio.internal:9000``): nothing else is.

    GENERATOR = remote_generator("ADS_GENERATOR")
    settings = GENERATOR.settings                        # for the domain's table of settings
    film = GENERATOR.provider(setting) or ProceduralFilmer()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Generic, TypeAlias, TypeVar

from penstock.declare.setting import Setting
from penstock.errors import Misconfigured
from penstock.generation.steps import LipSync, SceneWriter, VideoGenerator
from penstock.ports.clock import Clock, SystemClock

P = TypeVar("P")
Lookup: TypeAlias = Callable[[str], str | None]

_NEEDED = ("URL", "TOKEN", "MODEL")
_HELP = {
    "URL": "Where somebody else {does}; here, if nobody does.",
    "TOKEN": "What whoever {does} there knows us by.",
    "MODEL": "Which model {does} there.",
    "FIELDS": "What that model calls the parts of its input, such as prompt=text,seconds=duration.",
    "INPUT": "A JSON object that is sent to it each time.",
    "LENGTHS": "The seconds a film of it may have, such as 4,6,8.",
    "PRICE": "What a second of its time costs, in US dollars.",
    "FILES": "Origins its films may be fetched from though they are private or without TLS, by commas.",
}


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """What a deployment has chosen about one provider: texts, by the ends of their variables."""

    prefix: str
    values: Mapping[str, str]
    clock: Clock = field(default_factory=SystemClock)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    def get(self, name: str, default: str = "") -> str:
        return self.values.get(name, default)

    def variable(self, name: str) -> str:
        """The whole name of a variable."""
        return f"{self.prefix}_{name}"


@dataclass(frozen=True, slots=True)
class RemoteStep(Generic[P]):
    """A step that may be done elsewhere."""

    prefix: str
    does: str
    more: tuple[str, ...]
    "What may be set beside that which must be."
    adapter: Callable[[ProviderChoice], P]

    @property
    def settings(self) -> tuple[Setting, ...]:
        """What a deployment may choose about it."""
        return tuple(
            Setting(f"{self.prefix}_{name}", None, _HELP[name].format(does=self.does), secret=name == "TOKEN")
            for name in (*_NEEDED, *self.more)
        )

    def provider(self, setting: Lookup, *, clock: Clock | None = None) -> P | None:
        """The provider that is configured; None if nothing is set, Misconfigured if only a part of it is, or wrongly.

        ``clock`` tells how long a provider that fails is left alone.
        """
        read = ((name, (setting(f"{self.prefix}_{name}") or "").strip()) for name in (*_NEEDED, *self.more))
        chosen = ProviderChoice(self.prefix, {name: text for name, text in read if text}, clock or SystemClock())
        if not chosen.values:
            return None
        if missing := [chosen.variable(name) for name in _NEEDED if name not in chosen]:
            there = ", ".join(map(chosen.variable, chosen.values))
            raise Misconfigured(f"{there} is set and {', '.join(missing)} is not; set all of them, or none")
        if find_spec("pycurl") is None:
            raise Misconfigured(f"{self.prefix}_URL needs pycurl; run: pip install 'penstock[http]'")
        return self.adapter(chosen)


def remote_writer(prefix: str) -> RemoteStep[SceneWriter]:
    """A language model that writes scenes."""
    return RemoteStep(prefix, "writes scenes", (), _writer)


def remote_generator(prefix: str) -> RemoteStep[VideoGenerator]:
    """A model that films."""
    return RemoteStep(prefix, "films", ("FIELDS", "INPUT", "LENGTHS", "PRICE", "FILES"), _generator)


def remote_lip_sync(prefix: str) -> RemoteStep[LipSync]:
    """A model that moves lips."""
    return RemoteStep(prefix, "moves lips", ("FIELDS", "INPUT", "PRICE", "FILES"), _lip_sync)


# Only who speaks with a service needs the package for HTTP, and with it the adapters.


def _writer(chosen: ProviderChoice) -> SceneWriter:
    from penstock.generation.adapters import chat_writer

    return chat_writer(chosen)


def _generator(chosen: ProviderChoice) -> VideoGenerator:
    from penstock.generation.adapters import predicted_film

    return predicted_film(chosen)


def _lip_sync(chosen: ProviderChoice) -> LipSync:
    from penstock.generation.adapters import predicted_lip_sync

    return predicted_lip_sync(chosen)
