"""How many polls without news muster-channel answers with a second of one core, behind a proxy that does the encryption."""

from asking import mutation, mutations, token_of

CONNECTIONS = 16


def measure(lab, report):
    count = lab.sizes["polls"]
    raw = lab.polls("raw", CONNECTIONS, count, "GET /v1/jobs HTTP/1.1")
    with lab.server("polls").start() as server:
        ask = server.asking()
        member = server.member()
        opening = mutation(member.key, "move", token_of(member.key), lane="state", kind="openJob", payload={"name": "Move"})
        ask("POST", "/v1/mutations", mutations(member, opening))
        cursor = ask("GET", "/v1/jobs?limit=100")["cursor"]
        request = (
            f"GET /v1/jobs?limit=100&since={cursor} HTTP/1.1", *(f"{name}: {value}" for name, value in server.member().passed_on.items()),
            "Accept: application/x-protobuf", "Accept-Encoding: gzip")
        lab.polls(server.proxy, CONNECTIONS, count // 10, *request)
        core = server.processor_seconds()
        polled = lab.polls(server.proxy, CONNECTIONS, count, *request)
        core = server.processor_seconds() - core
    # The kernel counts a process's time in hundredths.
    rate, bare = (count / 1000 / max(seconds, 0.01) for seconds in (core, raw["coreSeconds"]))
    report.add(
        "Polls without news, per core", rate, "k/s", limit=bare / 30, goal="raw / 30", baseline=bare, ratio=rate / bare,
        met=rate >= bare / 30, detail={"coreSeconds": core, "polled": polled, "raw": raw})
