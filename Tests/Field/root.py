"""The Debian root that every machine of the field boots from: made once with debootstrap, then kept in a cache."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess

# What muster's packages depend on comes to it, so that apt needs no network inside a machine.
PACKAGES = [
    "systemd", "systemd-sysv", "dbus", "libpam-systemd", "iproute2", "iputils-ping", "procps", "apt",
    "avahi-daemon", "avahi-utils", "libnss-mdns", "unattended-upgrades", "needrestart",
]
SUITE = "bookworm"
# Units that wait for hardware or for a network outside, or that need a while at each of the day's many boots.
MASKED = [
    "systemd-networkd-wait-online.service", "systemd-timesyncd.service", "apt-daily.timer", "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer", "getty.target", "console-getty.service",
    "systemd-update-utmp.service", "unattended-upgrades.service",
]
AVAHI = """\
[server]
use-ipv4=yes
use-ipv6=no
ratelimit-interval-usec=1000000
ratelimit-burst=1000
[publish]
publish-workstation=no
publish-hinfo=no
"""


def cache():
    """The directory of what is kept between two runs."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(home) / "muster-field"


def needed(directory):
    """The Debian packages that those in a directory depend on or recommend."""
    debs = [str(deb) for deb in pathlib.Path(directory).glob("*.deb")]
    own = {field(deb, "Package").strip() for deb in debs}
    lists = [field(deb, kind) for deb in debs for kind in ("Depends", "Pre-Depends", "Recommends")]
    # Of alternatives the first, as apt does it.
    names = {re.split(r"[ (|:]", clause.strip())[0] for text in lists for clause in text.split(",") if clause.strip()}
    return names - own


def field(deb, name):
    return subprocess.run(["dpkg-deb", "--field", deb, name], check=True, capture_output=True, text=True).stdout


def root(directory):
    """The root for the packages in a directory; makes it when the cache has none. Nothing ever writes into it again."""
    packages = sorted({*PACKAGES, *needed(directory)})
    recipe = "\n".join([SUITE, *packages, *MASKED, AVAHI, "/srv/crew"])
    place = cache() / f"root-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"
    if place.exists():
        return place
    unfinished = place.with_name(f"{place.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    command = ["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", SUITE, str(unfinished)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"debootstrap failed with {done.returncode}:\n{done.stdout[-4000:]}")
    prepare(unfinished)
    unfinished.rename(place)
    return place


def prepare(place):
    """What is the same on every machine of the day."""
    units = place / "etc/systemd/system"
    for unit in MASKED:
        (units / unit).symlink_to("/dev/null")
    wanted = units / "multi-user.target.wants"
    wanted.mkdir(exist_ok=True)
    (wanted / "systemd-networkd.service").symlink_to("/lib/systemd/system/systemd-networkd.service")
    (place / "etc/avahi/avahi-daemon.conf").write_text(AVAHI)
    # The person at the laptop, who is no administrator.
    subprocess.run(["chroot", str(place), "useradd", "--create-home", "--home-dir", "/srv/crew", "crew"], check=True)
    shutil.rmtree(place / "var/cache/apt/archives", ignore_errors=True)


if __name__ == "__main__":
    print(root(os.environ["MUSTER_PACKAGES"]))
