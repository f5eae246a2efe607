"""Lines of Penstock, broken one at a time: a test has to notice each.

``make mutants`` tries as many as fit its budget. A broken line is a *mutant*; one that a test notices is *killed*, one
that none does is a *survivor*, unless `equivalents.toml` argues that it changes nothing.
"""
