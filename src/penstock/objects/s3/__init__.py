"""Objects in Amazon S3, or in a store that speaks its protocol. The driver is imported when it is first used."""

from penstock.objects.s3.s3_client import S3Connection
from penstock.objects.s3.s3_objects import S3Objects

__all__ = ["S3Connection", "S3Objects"]
