"""Music videos: the domain, for the composition root."""

from penstock.domains.musicvideo.model import DOMAIN

__all__ = ["DOMAIN"]
