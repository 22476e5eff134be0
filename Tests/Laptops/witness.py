"""A witness independent of avahi and of Muster: a program that watches `_muster._tcp` with the Python package zeroconf.

Prints a line of JSON for each service added, updated or removed, until it is ended. Run with Debian's /usr/bin/python3,
which finds the package python3-zeroconf.

Usage: witness.py ADDRESS-OF-THE-INTERFACE
"""

import json
import sys
import threading
import time

from zeroconf import IPVersion, ServiceBrowser, ServiceListener, Zeroconf

TYPE = "_muster._tcp.local."


class Listener(ServiceListener):
    def add_service(self, zeroconf, kind, name):
        self.say(zeroconf, "found", name)

    def update_service(self, zeroconf, kind, name):
        self.say(zeroconf, "updated", name)

    def remove_service(self, zeroconf, kind, name):
        print(json.dumps({"time": time.monotonic(), "event": "lost", "name": instance(name)}), flush=True)

    def say(self, zeroconf, event, name):
        info = zeroconf.get_service_info(TYPE, name, timeout=3000)
        if info is None:
            return
        line = {
            "time": time.monotonic(),
            "event": event,
            "name": instance(name),
            "port": info.port,
            "host": info.server,
            "addresses": info.parsed_addresses(IPVersion.V4Only),
            "txt": {key.decode(): value.decode() for key, value in info.properties.items()},
        }
        print(json.dumps(line), flush=True)


def instance(name):
    return name.removesuffix("." + TYPE)


if __name__ == "__main__":
    browser = ServiceBrowser(Zeroconf(interfaces=[sys.argv[1]], ip_version=IPVersion.V4Only), TYPE, Listener())
    threading.Event().wait()
