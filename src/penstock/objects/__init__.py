"""Files by key: in a folder of this machine, or in S3. One port, one suite (`penstock.testing.ObjectSuite`)."""

from penstock.objects.grant import RouteSigner
from penstock.objects.local import LocalObjects

__all__ = ["LocalObjects", "RouteSigner"]
