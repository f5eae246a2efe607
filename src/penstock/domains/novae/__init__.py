"""Classical novae, as a running system has it."""

from penstock.domains.novae.model import DOMAIN
from penstock.plugin import DomainPlugin

__all__ = ["DOMAIN", "PLUGIN"]

PLUGIN = DomainPlugin(DOMAIN)
