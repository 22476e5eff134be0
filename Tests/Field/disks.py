"""What happens to a laptop's disk: it runs full, and it is set back to a backup."""

import shutil


def fill(path):
    """Takes all the space that anybody may have, to the last block."""
    with open(path, "ab", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass


class Backup:
    """Of what the daemon keeps, and of its key, which systemd keeps; the machine is off."""

    PARTS = ("var/lib/muster", "etc/credstore.encrypted", "var/lib/systemd/credential.secret")

    def __init__(self, machine, directory):
        self._machine, self._directory = machine, directory
        for part in self._existing(machine.disk):
            copy(machine.disk / part, directory / part)

    def put_back(self):
        for part in self._existing(self._machine.disk):
            empty(self._machine.disk / part)
        for part in self._existing(self._directory):
            copy(self._directory / part, self._machine.disk / part)

    def _existing(self, place):
        return [part for part in self.PARTS if (place / part).exists()]


def copy(source, target):
    """With owners, as root copies."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_file():
        shutil.copy2(source, target)
        return
    target.mkdir(exist_ok=True)
    for file in source.iterdir():
        if file.is_file():
            shutil.copy2(file, target)
            status = file.stat()
            shutil.chown(target / file.name, status.st_uid, status.st_gid)


def empty(place):
    """What can be a mount point stays."""
    if place.is_file():
        place.unlink()
        return
    for file in place.iterdir():
        if file.is_file():
            file.unlink()
