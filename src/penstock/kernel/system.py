"""Where the kernel keeps its own records, beside the domains': messages, audit lines, leases, and what is done once."""

from __future__ import annotations

from penstock.declare.table import Table

SYSTEM = Table("penstock_system", partition="PK", sort="SK", expiry="ttl")
BY_STATUS = SYSTEM.index("GSI1", partition="GSI1PK", sort="GSI1SK")
