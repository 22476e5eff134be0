"""Several laptops on one machine, for tests and for demonstrations.

A laptop is a set of Linux namespaces (network, mounts, host name) with its own system bus and its own avahi-daemon; all
hang on one bridge, which stands in a namespace of its own. So nothing leaves the machine, nothing of the machine's own
network is touched, any number of labs may run at once, and when the processes of a lab have ended the kernel has cleared
everything away.

    with Lab() as lab:
        anna, ben = lab.laptop("anna"), lab.laptop("ben")
        program = anna.start(["discovery-probe", "anna", "7447", "aaaa"])
        wait_until(lambda: program.events("available"), 5, "anna's discovery is there")
        anna.cut()

Needs root and the Debian packages in apt-packages.txt; Python's standard library only, so that the demonstration under
Examples can use it as it is:  sys.path.insert(0, "<checkout>/Tests/Laptops")
"""

from .answers import Answers, ChannelAnswers
from .api import UnixConnection, ask
from .asciicast import Asciicast
from .bridge import Lab
from .crew import CrewMember, finish
from .fleet import Fleet, is_enrolled, shared_fleet
from .laptop import Laptop
from .ports import free_port
from .programs import Program, surroundings
from .waiting import Stopwatch, never_during, wait_at_rest, wait_until

__all__ = [
    "Answers", "Asciicast", "ChannelAnswers", "CrewMember", "Fleet", "Lab", "Laptop", "Program", "Stopwatch", "UnixConnection", "ask", "finish",
    "free_port", "is_enrolled", "never_during", "shared_fleet", "surroundings", "wait_at_rest", "wait_until",
]
