"""The words with which a call ends in an error, short enough to arrive.

They travel as a trailer. Clients take 8 KiB of trailers, where each byte may need three; of a longer one they see
neither words nor status.
"""

_MOST_BYTES = 2_000


def clipped(message: str) -> str:
    """The message, cut where it is too long for a trailer."""
    content = message.encode("utf-8", "replace")
    if len(content) <= _MOST_BYTES:
        return message
    return f"{content[:_MOST_BYTES].decode('utf-8', 'ignore')}… ({len(content)} bytes in all)"
