"""Video metadata: the domain, for the composition root."""

from penstock.domains.videos.model import DOMAIN

__all__ = ["DOMAIN"]
