"""Files beside their records: they come, are pointed at, and go with them."""
