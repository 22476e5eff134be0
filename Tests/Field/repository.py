"""A place from which a machine gets newer packages by itself."""

import hashlib
import pathlib
import shutil
import subprocess

ORIGIN = "Muster"


class Repository:
    """A flat repository on the machine's own disk (sources.list(5)): nothing comes over a network."""

    def __init__(self, machine):
        self.machine, self.place = machine, machine.disk / "srv/repository"
        self.place.mkdir()
        (machine.disk / "etc/apt/sources.list.d/muster.list").write_text("deb [trusted=yes] file:/srv/repository ./\n")
        (machine.disk / "etc/apt/apt.conf.d/52muster").write_text(
            f'Unattended-Upgrade::Origins-Pattern {{ "origin={ORIGIN}"; }};\n')

    def offer(self, package):
        shutil.copy(package, self.place)
        file = self.place / pathlib.Path(package).name
        control = subprocess.run(["dpkg-deb", "--field", str(file)], check=True, capture_output=True, text=True).stdout
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        (self.place / "Packages").write_text(
            f"{control}Filename: ./{file.name}\nSize: {file.stat().st_size}\nSHA256: {digest}\n")
        listed = (self.place / "Packages").read_bytes()
        (self.place / "Release").write_text(
            f"Origin: {ORIGIN}\nLabel: {ORIGIN}\nSuite: stable\nDate: Fri, 27 Nov 2026 00:00:00 UTC\n"
            f"SHA256:\n {hashlib.sha256(listed).hexdigest()} {len(listed)} Packages\n")
        self.machine.run(["apt-get", "update"])
