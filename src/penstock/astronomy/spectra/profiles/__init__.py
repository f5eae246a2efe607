"""The profiles themselves, one module for each family of instruments."""
