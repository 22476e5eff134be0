"""A laptop that has asked the server for much while the server was away."""

# States that may follow each other without an end: a customer who does not sign sends the crew back to work.
FIRST = ("dispatched", "inProgress")
THEN = ("awaitingSignature", "inProgress")
# As many requests in one lane as a long job makes.
LANE = 10


class Backlog:
    def __init__(self, lab, count):
        self.lab = lab
        self.server = lab.server("drain")
        self.laptop = lab.daemon("asker", extra=self.server.flags)
        self.laptop.start()
        lane = min(LANE, count // 5)
        self.jobs = [f"move-{number:04}" for number in range(count // lane)]
        # What the office has to be told of each job, in this order.
        self.states = ["scheduled", *FIRST, *THEN * lane][:lane]
        self.count = len(self.jobs) * lane
        # Milliseconds of each: a job with its request, then the other requests of all jobs in turn.
        self.openings = self._asked([self._opening(job) for job in self.jobs])
        self.advances = self._asked([self._advance(job, state) for state in self.states[1:] for job in self.jobs])

    def _asked(self, requests):
        return [times[0] for times in self.lab.reach(self.laptop, "none", [], requests)]

    @staticmethod
    def _opening(job):
        return "POST", "/v1/jobs", {"id": job, "name": f"Customer {job}", "kind": "inventory"}, {}

    @staticmethod
    def _advance(job, state):
        return "POST", f"/v1/jobs/{job}/state", {"state": state}, {}

    def pending(self):
        return self.laptop.ask("GET", "/v1/status")["queue"]["pending"]
