"""What anybody on the network can read of mDNS: a line of JSON for each record that somebody sends, until it is ended.

Run with Debian's /usr/bin/python3, which finds the package python3-zeroconf.

Usage: eavesdropper.py ADDRESS-OF-THE-INTERFACE
"""

import json
import socket
import sys

from zeroconf import DNSIncoming

GROUP, PORT = "224.0.0.251", 5353


def main(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear:
        # Avahi has the port, too.
        ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        ear.bind((GROUP, PORT))
        ear.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + socket.inet_aton(address))
        print(json.dumps({"event": "listens"}), flush=True)
        while True:
            data, sender = ear.recvfrom(1 << 16)
            for record in DNSIncoming(data).answers:
                line = {"event": "record", "from": sender[0], "name": record.name, "ttl": record.ttl, "text": str(record)}
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
