"""DynamoDB: an entity is a type of item in a single table, laid out byte for byte as the documents say.

Importing this package imports neither pycurl nor botocore.
"""

from penstock.engines.dynamodb.engine import DynamoEngine

__all__ = ["DynamoEngine"]
