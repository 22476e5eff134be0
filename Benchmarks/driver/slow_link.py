"""Two laptops on a link of a given speed and delay.

Few kernels can delay packets (netem is often left out), so they are carried here: each laptop has a TUN device, and this
process passes packets on when a link of that speed would have brought them. TCP is the kernels' own, with its handshake,
its slow start and its losses where the queue is full.
"""

import collections
import fcntl
import os
import select
import struct
import threading
import time

from .network import Namespaces, ip

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
# As much as a usual access point lets wait: a tenth of a second.
QUEUE_SECONDS = 0.1
LONGEST_PACKET = 65_536


class SlowLink(Namespaces):
    def __init__(self, bits_per_second, delay_seconds):
        """The delay is that of one way."""
        super().__init__("localhost")
        self.bits_per_second, self.delay = bits_per_second, delay_seconds
        self.devices = []
        self.stopped = threading.Event()
        self.thread = None

    def build(self):
        for index in range(2):
            laptop, device = self.namespace(str(index)), f"{self.name}{index}"
            self.devices.append(open_tun(device))
            ip("link", "set", device, "netns", laptop)
            ip("-n", laptop, "link", "set", "lo", "up")
            ip("-n", laptop, "address", "add", f"{self.address(index)}/24", "dev", device)
            ip("-n", laptop, "link", "set", device, "up")
        self.thread = threading.Thread(target=self.carry)
        self.thread.start()

    def __exit__(self, *_):
        self.stopped.set()
        if self.thread:
            self.thread.join()
        for device in self.devices:
            os.close(device)
        super().__exit__()

    def address(self, index):
        return f"10.79.0.{index + 1}"

    def carry(self):
        ways = [Way(source, target, self) for source, target in (self.devices, self.devices[::-1])]
        while not self.stopped.is_set():
            due = min((way.packets[0][0] for way in ways if way.packets), default=time.monotonic() + 0.05)
            ready, _, _ = select.select(self.devices, [], [], max(0, due - time.monotonic()))
            for way in ways:
                if way.source in ready:
                    way.take()
                way.deliver()


class Way:
    """One direction: packets leave one after the other, and arrive the delay later."""

    def __init__(self, source, target, link):
        self.source, self.target, self.link = source, target, link
        self.packets = collections.deque()
        self.free = 0.0

    def take(self):
        now = time.monotonic()
        while True:
            try:
                packet = os.read(self.source, LONGEST_PACKET)
            except BlockingIOError:
                return
            if self.free - now > QUEUE_SECONDS:
                continue
            self.free = max(self.free, now) + len(packet) * 8 / self.link.bits_per_second
            self.packets.append((self.free + self.link.delay, packet))

    def deliver(self):
        now = time.monotonic()
        while self.packets and self.packets[0][0] <= now:
            os.write(self.target, self.packets.popleft()[1])


def open_tun(name):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return device
