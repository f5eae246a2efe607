"""Temporary speech: the domain, for the composition root."""

from penstock.domains.speech.model import DOMAIN

__all__ = ["DOMAIN"]
