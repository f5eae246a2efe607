"""Classical novae: the domain, for the composition root."""

from penstock.domains.novae.model import DOMAIN

__all__ = ["DOMAIN"]
