"""What a laptop and the office's server are asked in the same way, wherever they run."""

import json


class Answers:
    """For whoever has `try_muster(*arguments)`, which runs the command to its end, whatever comes of it."""

    def connected(self):
        """The names of the laptops that it is connected to, sorted; none while the daemon does not answer."""
        done = self.try_muster("peers", "--json")
        if done.returncode != 0:
            return []
        return sorted(peer["name"] for peer in json.loads(done.stdout) if peer["state"] == "connected")

    def digest(self, job):
        """What the job's items amount to here; None while there is no such job."""
        done = self.try_muster("job", "show", job, "--json")
        return json.loads(done.stdout)["digest"] if done.returncode == 0 else None


class ChannelAnswers:
    """For whoever has `get(path)`, which asks the server."""

    def channel(self, job):
        """All entries of a job's channel, page by page."""
        entries = []
        while True:
            after = entries[-1]["last"] if entries else 0
            page = self.get(f"/v1/jobs/{job}/channel?after={after}&limit=500")["entries"]
            if not page:
                return entries
            entries += page
