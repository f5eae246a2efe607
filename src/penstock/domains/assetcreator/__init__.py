"""Game assets, as a running system has it."""

from penstock.domains.assetcreator.model import DOMAIN
from penstock.plugin import DomainPlugin

__all__ = ["DOMAIN", "PLUGIN"]

PLUGIN = DomainPlugin(DOMAIN, retention="17 3 * * *")
