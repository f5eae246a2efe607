"""Layouts: how the records of each entity lie in this store, which the store remembers and every process goes by."""
