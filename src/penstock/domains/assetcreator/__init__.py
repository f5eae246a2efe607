"""Game assets: the domain, for the composition root."""

from penstock.domains.assetcreator.model import DOMAIN

__all__ = ["DOMAIN"]
