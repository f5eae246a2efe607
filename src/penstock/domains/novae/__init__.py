"""Novae: from a name to validated spectra and light curves."""

from penstock.domains.novae.model import DOMAIN
from penstock.domains.novae.options import SETTINGS
from penstock.domains.novae.workflow import TASKS
from penstock.plugin import DomainPlugin

__all__ = ["DOMAIN", "PLUGIN"]

PLUGIN = DomainPlugin(DOMAIN, tasks=TASKS, settings=SETTINGS)
