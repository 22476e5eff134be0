"""Two Syncthing daemons that keep a folder of small files the same: what keeps other people's files in sync."""

import http.client
import json
import os
import pathlib
import shutil
import subprocess
import time
import xml.etree.ElementTree as tree

from .daemon import LabError, sample
from .lab import fields

FOLDER = "items"
FILES_A_DIRECTORY = 1000
OPTIONS = {
    # As the other side runs: on loopback, told of each other. Nothing goes out of this machine.
    "globalAnnounceEnabled": "false", "localAnnounceEnabled": "false", "relaysEnabled": "false", "natEnabled": "false",
    "urAccepted": "-1", "crashReportingEnabled": "false", "autoUpgradeIntervalH": "0", "startBrowser": "false",
}


class Syncthing:
    """One of them; everything else is as Debian's package sets it."""

    def __init__(self, directory, ports):
        program = shutil.which("syncthing")
        if program is None:
            raise LabError("there is no syncthing; install Debian's package of that name")
        self.program, self.home, self.files = program, directory / "home", directory / "files"
        self.gui, self.port = ports
        self.process = None
        self.files.mkdir(parents=True)
        self._call("generate", "--home", str(self.home), "--no-default-folder", "--skip-port-probing")
        self.device = self._call("--home", str(self.home), "--device-id").strip()
        self.config = tree.parse(self.home / "config.xml")
        self.key = self.config.getroot().find("gui/apikey").text

    def _call(self, *arguments):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True, env=self._environment())
        if done.returncode != 0:
            raise LabError(f"syncthing {arguments[0]}: {done.stderr.strip()[:200]}")
        return done.stdout

    def _environment(self):
        return {**os.environ, "HOME": str(self.home.parent), "STNOUPGRADE": "1"}

    def share_with(self, other):
        """Both have the folder; before they are started."""
        root = self.config.getroot()
        root.find("gui/address").text = f"127.0.0.1:{self.gui}"
        options = root.find("options")
        for name, value in {**OPTIONS, "listenAddress": f"tcp://127.0.0.1:{self.port}"}.items():
            found = options.find(name)
            (found if found is not None else tree.SubElement(options, name)).text = value
        device = tree.SubElement(root, "device", id=other.device, name="other")
        tree.SubElement(device, "address").text = f"tcp://127.0.0.1:{other.port}"
        folder = tree.SubElement(root, "folder", id=FOLDER, label=FOLDER, path=str(self.files), type="sendreceive")
        for each in (self.device, other.device):
            tree.SubElement(folder, "device", id=each)
        self.config.write(self.home / "config.xml")

    def start(self):
        """Returns how many seconds it took until it answers."""
        command = [self.program, "serve", "--home", str(self.home), "--no-browser", "--no-restart", "--logflags=0"]
        began = time.monotonic()
        with open(self.home.parent / "log", "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=self._environment())
        while True:
            try:
                self.ask("/rest/system/ping")
                return time.monotonic() - began
            except OSError:
                if self.process.poll() is not None or time.monotonic() > began + 120:
                    raise LabError("syncthing does not answer") from None
                time.sleep(0.005)

    def ask(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.gui, timeout=60)
        try:
            connection.request("GET", path, headers={"X-API-Key": self.key})
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def holds(self, count):
        """Whether it is at rest with so many files."""
        status = self.ask(f"/rest/db/status?folder={FOLDER}")
        return status["state"] == "idle" and status["localFiles"] == count and status["needFiles"] == 0

    def sample(self):
        # The one that was started watches over the one that works.
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return sample(self.process.pid, *[child for task in tasks for child in task.read_text().split()])

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None


def write_items(directory, count):
    """A file an item, with the same fields."""
    for index in range(count):
        place = directory / f"{index // FILES_A_DIRECTORY:03d}"
        if index % FILES_A_DIRECTORY == 0:
            place.mkdir()
        (place / f"{index:06d}.json").write_text(json.dumps(fields(index)))
