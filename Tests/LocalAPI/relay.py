"""A port of the loopback for a daemon's socket, since what makes requests from a document speaks TCP only.

    python3 relay.py SOCKET     says the port, and relays until it is ended
"""

import asyncio
import contextlib
import sys


async def carry(reader, writer):
    """Everything in one direction, and its end."""
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.close()


async def serve(reader, writer):
    daemon = await asyncio.open_unix_connection(sys.argv[1])
    await asyncio.gather(carry(reader, daemon[1]), carry(daemon[0], writer))


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


asyncio.run(main())
