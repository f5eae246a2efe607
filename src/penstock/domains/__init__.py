"""The five systems that ship with Penstock."""

from penstock.declare.domain import Domain
from penstock.domains.assetcreator.model import DOMAIN as ASSET_CREATOR
from penstock.domains.musicvideo.model import DOMAIN as MUSIC_VIDEO
from penstock.domains.novae.model import DOMAIN as NOVAE
from penstock.domains.speech.model import DOMAIN as SPEECH
from penstock.domains.videos.model import DOMAIN as VIDEOS

DOMAINS: tuple[Domain, ...] = (MUSIC_VIDEO, ASSET_CREATOR, VIDEOS, SPEECH, NOVAE)
