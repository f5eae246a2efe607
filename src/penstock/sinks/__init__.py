"""Where messages go: the log, a webhook, EventBridge, Kafka. A driver is imported when its sink is first used."""

from penstock.sinks.eventbridge import EventBridgeSink
from penstock.sinks.kafka import KafkaSink
from penstock.sinks.log import LogSink
from penstock.sinks.webhook import WebhookSink
from penstock.sinks.webhook_signature import verify

__all__ = ["EventBridgeSink", "KafkaSink", "LogSink", "WebhookSink", "verify"]
