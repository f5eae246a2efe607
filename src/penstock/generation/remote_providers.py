"""Remote providers: steps that a deployment may have done elsewhere, each under variables that begin with its prefix.

| step | variables |
|---|---|
| `remote_writer` | …_URL, …_TOKEN, …_MODEL |
| `remote_generator` | …_URL, …_TOKEN, …_MODEL; and if need be …_LENGTHS and those below |
| `remote_lip_sync`, `remote_picture`, `remote_modeller` | …_URL, …_TOKEN, …_MODEL; and if need be those below |

``…_FIELDS`` says what the model calls the parts of its input (``prompt=text,seconds=duration``; a part without a name
is not sent), ``…_INPUT`` is a JSON object that is sent each time, ``…_LENGTHS`` are the seconds a film may have
(``4,6,8``), ``…_PRICE`` is what a second of the model's time costs in dollars, and ``…_FILES`` are origins that its
files may be fetched from though they are private or without TLS (``http://minio.internal:9000``): nothing else is.

``…_FALLBACK`` says who does it while that provider fails so often that it is left alone: ``embedded``, or ``…_2``, a
second one with variables of its own, or ``…_2,embedded``, in that order. Without it tasks are put off meanwhile.

    GENERATOR = remote_generator("ADS_GENERATOR")
    settings = GENERATOR.settings                        # for the domain's table of settings
    film = GENERATOR.provider(setting, embedded=filmer) or filmer
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Generic, TypeAlias, TypeVar

from penstock.declare.setting import Setting
from penstock.errors import Misconfigured
from penstock.generation.asset_steps import Modeller, PictureMaker
from penstock.generation.fallback import (
    Fallback,
    FilmWithFallback,
    LipSyncWithFallback,
    MeshWithFallback,
    PictureWithFallback,
)
from penstock.generation.steps import LipSync, SceneWriter, VideoGenerator
from penstock.net.url import read_url
from penstock.ports.clock import Clock, SystemClock

P = TypeVar("P")
Lookup: TypeAlias = Callable[[str], str | None]
Chain: TypeAlias = Callable[[P, Sequence[Fallback[P]]], P]

EMBEDDED = "embedded"
_NEEDED = ("URL", "TOKEN", "MODEL")
_PREDICTED = ("FIELDS", "INPUT", "PRICE", "FILES")
_FALLBACK = "FALLBACK"
_HELP = {
    "URL": "Where somebody else {does}; here, if nobody does.",
    "TOKEN": "What whoever {does} there knows us by.",
    "MODEL": "Which model {does} there.",
    "FIELDS": "What that model calls the parts of its input, such as prompt=text,seed=seed.",
    "INPUT": "A JSON object that is sent to it each time.",
    "LENGTHS": "The seconds a film of it may have, such as 4,6,8.",
    "PRICE": "What a second of its time costs, in US dollars.",
    "FILES": "Origins its files may be fetched from though they are private or without TLS, by commas.",
    _FALLBACK: "Who {does} while it fails too often: embedded, {second}, or both, by commas; else that waits.",
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

    def names(self, name: str) -> list[str]:
        """What a variable lists by commas."""
        return [text.strip() for text in self.get(name).split(",") if text.strip()]


@dataclass(frozen=True, slots=True)
class RemoteStep(Generic[P]):
    """A step that may be done elsewhere."""

    prefix: str
    does: str
    more: tuple[str, ...]
    "What may be set beside that which must be."
    adapter: Callable[[ProviderChoice], P]
    chain: Chain[P] | None = None
    "How others stand in for whoever does it; nobody does, where there is none."
    instead_of: str | None = None
    "The prefix of the one it is a second to."

    @property
    def settings(self) -> tuple[Setting, ...]:
        """What a deployment may choose about it."""
        second = self._second
        own = tuple(self._setting(name) for name in self._names)
        return own if second is None else (*own, *second.settings)

    def provider(self, setting: Lookup, *, clock: Clock | None = None, embedded: P | None = None) -> P | None:
        """The provider that is configured; None if nothing is set, Misconfigured if only a part of it is, or wrongly.

        ``clock`` tells how long a provider that fails is left alone, and ``embedded`` is who does it here.
        """
        second = self._second
        chosen = self._chosen(setting, clock)
        spare = None if second is None else second._chosen(setting, clock)
        if not chosen.values:
            if spare is not None and spare.values:
                there = ", ".join(map(spare.variable, spare.values))
                raise Misconfigured(f"{there} is set and {chosen.variable('URL')} is not; a second one needs a first")
            return None
        first = self._built(chosen)
        if self.chain is None or second is None or spare is None:
            return first
        others = [self._fallback(name, chosen, second, spare, embedded) for name in chosen.names(_FALLBACK)]
        if spare.values and spare.prefix not in {each.name for each in others}:
            there, wanted = ", ".join(map(spare.variable, spare.values)), chosen.variable(_FALLBACK)
            raise Misconfigured(
                f"{there} is set and {wanted} does not name {spare.prefix}; write {wanted}={spare.prefix}"
            )
        return self.chain(first, others) if others else first

    @property
    def _names(self) -> tuple[str, ...]:
        return (*_NEEDED, *self.more) if self.chain is None else (*_NEEDED, *self.more, _FALLBACK)

    @property
    def _second(self) -> RemoteStep[P] | None:
        """A second provider of the same, to stand in for the first."""
        if self.chain is None:
            return None
        return RemoteStep(f"{self.prefix}_2", self.does, self.more, self.adapter, instead_of=self.prefix)

    def _setting(self, name: str) -> Setting:
        words = _HELP[name].format(does=self.does, second=f"{self.prefix}_2")
        if name == "URL" and self.instead_of is not None:
            words = f"Where a second one {self.does}, whom {self.instead_of}_{_FALLBACK} may name."
        return Setting(f"{self.prefix}_{name}", None, words, secret=name == "TOKEN")

    def _chosen(self, setting: Lookup, clock: Clock | None) -> ProviderChoice:
        read = ((name, (setting(f"{self.prefix}_{name}") or "").strip()) for name in self._names)
        return ProviderChoice(self.prefix, {name: text for name, text in read if text}, clock or SystemClock())

    def _built(self, chosen: ProviderChoice) -> P:
        if missing := [chosen.variable(name) for name in _NEEDED if name not in chosen]:
            there = ", ".join(map(chosen.variable, chosen.values))
            raise Misconfigured(f"{there} is set and {', '.join(missing)} is not; set all of them, or none")
        if find_spec("pycurl") is None:
            raise Misconfigured(f"{self.prefix}_URL needs pycurl; run: pip install 'penstock[http]'")
        return self.adapter(chosen)

    def _fallback(
        self, name: str, chosen: ProviderChoice, second: RemoteStep[P], spare: ProviderChoice, embedded: P | None
    ) -> Fallback[P]:
        told = f"{chosen.variable(_FALLBACK)}={chosen[_FALLBACK]!r}"
        if name == EMBEDDED and embedded is not None:
            return Fallback(EMBEDDED, embedded, EMBEDDED, _embedded_name(embedded))
        if name != second.prefix:
            known = second.prefix if embedded is None else f"{EMBEDDED} or {second.prefix}"
            raise Misconfigured(f"{told} is no fallback; write {known}")
        if not spare.values:
            raise Misconfigured(f"{told} and {spare.variable('URL')} is not set; set what it needs, or no fallback")
        return Fallback(name, second._built(spare), read_url(spare["URL"]).host, spare["MODEL"])


def _embedded_name(provider: object) -> str:
    """Its name and version, where it has them."""
    named = [str(told) for name in ("name", "version") if (told := getattr(provider, name, None)) is not None]
    return " ".join(named) or type(provider).__name__


def remote_writer(prefix: str) -> RemoteStep[SceneWriter]:
    """A language model that writes scenes."""
    return RemoteStep(prefix, "writes scenes", (), _writer)


def remote_generator(prefix: str) -> RemoteStep[VideoGenerator]:
    """A model that films."""
    return RemoteStep(prefix, "films", ("FIELDS", "INPUT", "LENGTHS", "PRICE", "FILES"), _generator, FilmWithFallback)


def remote_lip_sync(prefix: str) -> RemoteStep[LipSync]:
    """A model that moves lips."""
    return RemoteStep(prefix, "moves lips", _PREDICTED, _lip_sync, LipSyncWithFallback)


def remote_picture(prefix: str) -> RemoteStep[PictureMaker]:
    """A model that draws assets."""
    return RemoteStep(prefix, "draws", _PREDICTED, _picture, PictureWithFallback)


def remote_modeller(prefix: str) -> RemoteStep[Modeller]:
    """A model that turns a picture into a mesh."""
    return RemoteStep(prefix, "models", _PREDICTED, _modeller, MeshWithFallback)


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


def _picture(chosen: ProviderChoice) -> PictureMaker:
    from penstock.generation.adapters import predicted_picture

    return predicted_picture(chosen)


def _modeller(chosen: ProviderChoice) -> Modeller:
    from penstock.generation.adapters import predicted_mesh

    return predicted_mesh(chosen)
