"""Says on the network that a host is at another address, and that nothing else is true of it (RFC 6762 section 10.2): five times.

Run with Debian's /usr/bin/python3, which finds the package python3-zeroconf.

Usage: claimant.py ADDRESS-OF-THE-INTERFACE HOST
"""

import socket
import sys
import time

from zeroconf import DNSAddress, DNSOutgoing

GROUP, PORT = "224.0.0.251", 5353
RESPONSE, AUTHORITATIVE = 0x8000, 0x0400
TYPE_A, CLASS_IN, UNIQUE = 1, 1, 0x8000


def main(address, host):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mouth:
        # Avahi has the port, too, and believes nobody who speaks from another.
        mouth.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        mouth.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
        mouth.bind(("", PORT))
        for _ in range(5):
            message = DNSOutgoing(RESPONSE | AUTHORITATIVE, multicast=True)
            record = DNSAddress(host.rstrip(".") + ".", TYPE_A, CLASS_IN | UNIQUE, 120, socket.inet_aton(address))
            message.add_answer_at_time(record, 0)
            for packet in message.packets():
                mouth.sendto(packet, (GROUP, PORT))
            time.sleep(0.5)  # Sleeps: avahi takes what comes at once for one.


if __name__ == "__main__":
    main(*sys.argv[1:])
