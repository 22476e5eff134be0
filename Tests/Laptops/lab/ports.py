"""TCP ports for programs that listen later."""

import itertools
import os
import socket

# Below what the kernel gives to those that ask for any port (net.ipv4.ip_local_port_range): a program may listen long
# after its port was chosen, and must find it free then. Processes that run side by side have a hundred each.
FIRST, BLOCK, BLOCKS = 10_000, 100, 220


def free_port(_numbers=itertools.count()):
    """Returns a TCP port on which nobody listens."""
    begin = FIRST + os.getpid() % BLOCKS * BLOCK
    for _ in range(BLOCK):
        port = begin + next(_numbers) % BLOCK
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("0.0.0.0", port))
            except OSError:
                continue
        return port
    raise OSError(f"all ports from {begin} to {begin + BLOCK - 1} are taken: end what earlier runs have left")
