from tests.runtime.packages import packages

__all__ = ["packages"]
