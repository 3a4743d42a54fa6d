"""Whether a process is well: it takes a connection, and answers GET on its path where it has one."""

import asyncio
import contextlib
import os

#: How long one answer may take.
_ANSWER_SECONDS = 2.0
_MOST_BYTES = 256


async def what_is_wrong(port: int, path: str) -> str:
    """Why the process on that port is not well, in words; empty when it is."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                return await _ask(reader, writer, path) if path else ""
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
    except TimeoutError:
        return f"no answer from port {port} in {_ANSWER_SECONDS:g} s"
    except OSError as error:
        # What asyncio says itself is the call that failed, with the address once more.
        why = os.strerror(error.errno).lower() if error.errno else type(error).__name__
        return f"nothing answers on port {port} ({why})"


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> str:
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    line = (await reader.readline())[:_MOST_BYTES].decode("latin-1").split()
    if len(line) > 1 and line[1].isdigit():
        return "" if 200 <= int(line[1]) < 400 else f"GET {path} answers {line[1]}"
    return f"GET {path} gets no HTTP answer"
