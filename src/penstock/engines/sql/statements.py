"""SQL texts for one entity: reads by key and by pattern, conditions, and each kind of write.

A text depends only on the form of what is asked, never on its values, so that a driver prepares it once.
"""

from __future__ import annotations

from penstock.engines.sql.read_texts import ReadTexts
from penstock.engines.sql.write_texts import WriteTexts


class Statements(ReadTexts, WriteTexts):
    """Everything the engine says about one entity."""
