"""Whether a whole answer is a good one: DynamoDB says with each what its body's checksum is."""

from zlib import crc32

from penstock.net.answer import PostAnswer

_OK = 200
_CHECKSUM = b"\nx-amz-crc32: "


def is_good(answer: PostAnswer) -> bool:
    """Whether the operation succeeded and its result arrived undamaged."""
    return answer.status == _OK and is_intact(answer)


def is_intact(answer: PostAnswer) -> bool:
    """Whether the body is the one DynamoDB computed its checksum of. True when it sent none."""
    # Done for every answer, so it looks for DynamoDB's own spelling only, unlike `header`.
    head = answer.head
    start = head.find(_CHECKSUM)
    if start < 0:
        return True
    stated = head[start + len(_CHECKSUM) : head.find(b"\r", start)]
    return stated.isdigit() and int(stated) == crc32(answer.body)
