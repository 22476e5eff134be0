"""Laptops as network namespaces; nothing of it touches the machine's own network. Needs root."""

import os
import subprocess

from .daemon import LabError


class Namespaces:
    """Namespaces that end with the block; a laptop's is named by its index."""

    def __init__(self, prefix):
        self.name = f"{prefix}{os.getpid()}"
        self.made = []

    def __enter__(self):
        try:
            self.build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for namespace in self.made:
            subprocess.run(["ip", "netns", "del", namespace], check=False, stderr=subprocess.DEVNULL)

    def namespace(self, suffix):
        namespace = f"{self.name}-{suffix}"
        ip("netns", "add", namespace)
        self.made.append(namespace)
        return namespace

    def inside(self, index):
        return ["ip", "netns", "exec", f"{self.name}-{index}"]


def ip(*arguments):
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise LabError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
