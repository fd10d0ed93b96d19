"""Closes connections, on both sides."""

import asyncio
from contextlib import suppress


async def close_writer(writer: asyncio.StreamWriter) -> None:
    """Close a connection."""
    writer.close()
    with suppress(ConnectionError, TimeoutError):
        async with asyncio.timeout(1.0):
            await writer.wait_closed()
