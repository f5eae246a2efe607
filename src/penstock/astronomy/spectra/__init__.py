"""Spectra in files: which profile a file has, what its axis is, and whether it can be trusted."""
