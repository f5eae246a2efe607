"""The five systems that ship with Penstock."""

from penstock.declare.domain import Domain
from penstock.domains.assetcreator.model import DOMAIN as ASSET_CREATOR
from penstock.domains.musicvideo import INSTALLED as MUSIC_VIDEO
from penstock.domains.novae.model import DOMAIN as NOVAE
from penstock.domains.speech import INSTALLED as SPEECH
from penstock.domains.videos.model import DOMAIN as VIDEOS
from penstock.plugin import DomainPlugin

INSTALLED: tuple[DomainPlugin, ...] = (
    MUSIC_VIDEO,
    DomainPlugin(ASSET_CREATOR),
    DomainPlugin(VIDEOS),
    SPEECH,
    DomainPlugin(NOVAE),
)
DOMAINS: tuple[Domain, ...] = tuple(i.domain for i in INSTALLED)
