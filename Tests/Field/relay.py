"""A cable that is slow and loses frames, for kernels without netem: passes frames between two interfaces.

    relay.py ONE OTHER --delay MILLISECONDS --loss PERCENT --kilobits PER_SECOND
    relay.py --plain INTERFACE      that what it sends has checksums, and is no larger than a wire takes

Ends with SIGTERM, and prints how many frames it has passed on and lost.
"""

import argparse
import array
import fcntl
import heapq
import itertools
import random
import select
import signal
import socket
import struct
import sys
import time

EVERY_PROTOCOL = 0x0003
SIOCETHTOOL = 0x8946
# ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO
OFFLOADS = (0x17, 0x1F, 0x24)
# A queue that is longer than this drops what comes, as a router's does.
QUEUE_SECONDS = 2


def make_plain(interface):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for offload in OFFLOADS:
            value = array.array("B", struct.pack("II", offload, 0))
            request = struct.pack("16sP", interface.encode(), value.buffer_info()[0])
            fcntl.ioctl(control, SIOCETHTOOL, request)


class Cable:
    def __init__(self, interfaces, delay_seconds, loss, bits_per_second):
        self.ends = []
        for interface in interfaces:
            end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL))
            end.bind((interface, 0))
            self.ends.append(end)
        self.delay_seconds, self.loss, self.bits_per_second = delay_seconds, loss, bits_per_second
        self.free_at = [0.0, 0.0]
        self.waiting, self.number = [], itertools.count()
        self.passed = self.lost = 0
        self.random = random.Random(1)

    def carry(self):
        """Passes on what has been on the way long enough, takes what has come."""
        now = time.monotonic()
        while self.waiting and self.waiting[0][0] <= now:
            _, _, end, frame = heapq.heappop(self.waiting)
            try:
                self.ends[end].send(frame)
                self.passed += 1
            except OSError:
                # The interface is down at this moment.
                self.lost += 1
        patience = max(0.0, self.waiting[0][0] - time.monotonic()) if self.waiting else 0.5
        for end in select.select(self.ends, [], [], patience)[0]:
            self._take(self.ends.index(end))

    def _take(self, side):
        try:
            frame, address = self.ends[side].recvfrom(65_536)
        except OSError:
            return
        if address[2] == socket.PACKET_OUTGOING:
            return
        now = time.monotonic()
        begin = max(now, self.free_at[side])
        if self.random.random() < self.loss or begin - now > QUEUE_SECONDS:
            self.lost += 1
            return
        self.free_at[side] = begin + len(frame) * 8 / self.bits_per_second
        due = self.free_at[side] + self.delay_seconds
        heapq.heappush(self.waiting, (due, next(self.number), 1 - side, frame))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interfaces", nargs="*")
    parser.add_argument("--plain", metavar="INTERFACE")
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--loss", type=float, default=0)
    parser.add_argument("--kilobits", type=float, default=1_000_000)
    wanted = parser.parse_args()
    if wanted.plain:
        make_plain(wanted.plain)
        return
    cable = Cable(wanted.interfaces, wanted.delay / 1000, wanted.loss / 100, wanted.kilobits * 1000)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        while True:
            cable.carry()
    finally:
        print(cable.passed, cable.lost)


if __name__ == "__main__":
    main()
