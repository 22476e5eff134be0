import CRDT
import Checkup
import HTTPCoding
import Identity
import LocalAPI
import LocalAPIServer
import Replication
import Testing

@testable import Engine
@testable import Node
@testable import Timekeeping

struct HealthRulesTests {
    private func clock(drift: Int64 = 0, source: TimeSource? = .server, isSynchronised: Bool = true) -> ClockOverview {
        ClockOverview(
            source: source, isSynchronised: isSynchronised, stratum: isSynchronised ? 1 : 16, drift: drift,
            uncertainty: 1_250, age: 0, time: 0)
    }

    @Test("A clock that nobody confirms, a wall clock far off and changes from the future are warnings")
    func clocks() {
        #expect(HealthRules.clock(clock(), future: []) == .ok(.clock, "synchronised to within 1.3 ms"))
        #expect(HealthRules.clock(clock(drift: -60_000_000), future: []).outcome == .ok)
        let late = HealthRules.clock(clock(drift: -7_200_000_000), future: [])
        #expect(late.outcome == .warn)
        #expect(late.finding == "the wall clock is 7200 s behind, corrected for")
        #expect(late.remedy?.contains("timedatectl") == true)
        let alone = HealthRules.clock(
            clock(drift: 0, source: nil, isSynchronised: false), future: [work(2, by: "bert")])
        #expect(alone.outcome == .warn)
        #expect(alone.finding.contains("unsynchronised"))
        #expect(alone.finding.contains("2 changes by bert are stamped up to 1 day ahead"))
        #expect(alone.remedy?.contains("nothing is lost") == true)
    }

    @Test("Whoever passes on what nobody has signed is named, with what to do")
    func journals() {
        #expect(HealthRules.journals([]).outcome == .ok)
        let bert = RefusedWork(
            .unsigned, device: DeviceID(high: 0xABCD << 112, low: 0), name: "bert", count: 3, last: 1_000)
        let found = HealthRules.journals([bert, RefusedWork(.unsigned, device: nil, name: "", last: 2_000)])
        #expect(found.outcome == .fail)
        #expect(found.finding.hasPrefix("bert (abcd0000) passed on, 3 times, what its author has not signed"))
        #expect(found.finding.contains("the server passed on, once"))
        #expect(found.remedy?.contains("muster fleet revoke") ?? false)
        let server = RefusedWork(.unsigned, device: nil, name: "", last: 0)
        #expect(HealthRules.journals([server]).remedy?.contains("server") ?? false)
        let stranger = RefusedWork(.unvouched, device: bert.device, name: "", count: 2, last: 0)
        let unvouched = HealthRules.journals([stranger])
        #expect(unvouched.outcome == .warn && unvouched.remedy?.contains("fleet invite") ?? false)
        #expect(unvouched.finding.hasPrefix("work of abcd0000, whom this fleet does not let write, came 2 times"))
        #expect(HealthRules.journals([stranger, server]).outcome == .fail)
        let other = RefusedWork(.otherServer, device: bert.device, name: "", last: 0)
        let notBelieved = HealthRules.journals([stranger, other])
        #expect(notBelieved.outcome == .warn && notBelieved.remedy?.contains("muster-channel fleet") ?? false)
        #expect(notBelieved.finding.contains("words of server abcd0000, which is not of this fleet, came once"))
    }

    private func work(_ changes: Int, by name: String, aheadSeconds: Int64 = 86_390) -> FutureWork {
        FutureWork(
            job: "job", by: "2e2e", byName: name, changes: changes,
            latest: Timestamp(milliseconds: aheadSeconds * 1_000))
    }

    @Test("Whose changes come from the future is said of three at most, who wrote most first")
    func future() {
        let work = [
            work(1, by: "anna"), work(2, by: "bert"), work(3, by: "anna"), work(1, by: "cleo"), work(1, by: "dora"),
        ]
        let findings = FutureFinding.findings(work, nowMilliseconds: 0)
        #expect(findings.first == "4 changes by anna are stamped up to 1 day ahead")
        #expect(findings.count == 4 && findings.last == "so are others by 1 more")
        #expect(findings[2] == "1 change by cleo is stamped up to 1 day ahead")
    }

    static let leads: [(Int64, String)] = [
        (301, "5 min"), (3_590, "1 h"), (7_000, "2 h"), (86_390, "1 day"), (200_000, "2 days"),
        (315_360_000, "10 years"),
    ]

    @Test("How far ahead a stamp is, is said in the unit that suits it", arguments: leads)
    func lead(seconds: Int64, text: String) {
        #expect(FutureFinding.lead(milliseconds: seconds * 1_000) == text)
    }

    @Test("The server that lets the laptop not in, or was set back, is a fault; a missing way to it is none")
    func server() {
        func judge(
            _ state: ServerStanding.State, _ words: ServerStanding.Words = .fit, pending: Int = 0
        ) -> HealthCheck {
            var standing = ServerStanding()
            standing.state = state
            let isNews = (standing.note(words, in: JobID(ItemID.job)), standing.note(words, in: JobID(ItemID.job)))
            #expect(isNews == (words != .fit, false))
            return HealthRules.server(
                "https://muster.example", standing: standing, queue: QueueStatus(pending: pending))
        }
        #expect(judge(.reached) == .ok(.server, "https://muster.example answers"))
        #expect(judge(.noRoute, pending: 2).outcome == .warn)
        #expect(judge(.noRoute, pending: 2).finding.hasSuffix("; 2 requests on the way"))
        #expect(judge(.unreachable("is there a login page?")).finding.contains("login page"))
        #expect(judge(.unauthorised("It was revoked.")).outcome == .fail)
        #expect(judge(.unauthorised("It was revoked.")).finding.contains("let this laptop in: It was revoked."))
        #expect(judge(.reached, .behind).outcome == .fail)
        #expect(judge(.reached, .behind).remedy?.contains("set back") == true)
        // Nobody is accused whose words are not the ones that are held.
        let foreign = judge(.reached, .foreign)
        #expect(foreign.outcome == .fail && foreign.remedy?.contains("set back") == false)
        #expect(foreign.finding.contains("another server") && foreign.finding.contains("https://muster.example"))
        let none = HealthRules.server(nil, standing: nil, queue: QueueStatus())
        #expect(none == .ok(.server, "none is configured"))
        let waiting = HealthRules.server(nil, standing: nil, queue: QueueStatus(pending: 1))
        #expect(waiting.outcome == .warn)
    }

    @Test("What waits for a person is told, however the server is reached")
    func queue() {
        #expect(HealthRules.queue(QueueStatus(pending: 3)) == .ok(.queue, "nothing waits for a person"))
        let rejected = HealthRules.queue(QueueStatus(pending: 3, rejected: 2))
        #expect(rejected.outcome == .warn && rejected.finding == "the office has rejected 2 requests")
        #expect(rejected.remedy?.contains("muster queue drop") == true)
        let all = HealthRules.queue(QueueStatus(paused: 1, rejected: 1, isPaused: true))
        #expect(
            all.finding.hasPrefix("the office has rejected 1 request; everything of this laptop is paused: 1 request"))
        #expect(all.remedy?.contains("muster queue resume") == true)
        // A pause that nobody remembers holds up what will be asked for.
        let idle = HealthRules.queue(QueueStatus(pausedJobs: [PausedJob(job: "elm", jobName: "Elm 12")]))
        #expect(idle.outcome == .warn && idle.finding == "what concerns 'Elm 12' is paused: nothing waits for that")
    }

    @Test("A network that nobody can reach this laptop by is told with what to do")
    func network() throws {
        let listen = try #require(PeerAddress("0.0.0.0:7473"))
        func check(
            port: Int?, isLoopbackOnly: Bool = false, _ interfaces: [NetworkInterface] = [], connected: Int = 0
        ) -> HealthCheck {
            HealthRules.network(
                listen: listen, port: port, isLoopbackOnly: isLoopbackOnly, interfaces: interfaces, connected: connected
            )
        }
        #expect(check(port: nil).outcome == .fail)
        #expect(check(port: 7473).outcome == .fail)
        #expect(check(port: 7473, isLoopbackOnly: true).outcome == .warn)
        #expect(check(port: 7473, isLoopbackOnly: true, connected: 1).outcome == .ok, "somebody has arranged that")
        #expect(check(port: nil, isLoopbackOnly: true, connected: 1).outcome == .fail)
        let wifi = NetworkInterface(name: "wlp2s0", kind: .network, addresses: ["10.0.0.2", "fd00::2"])
        let well = check(port: 7473, [wifi])
        #expect(well == .ok(.network, "listens on port 7473, at 10.0.0.2, fd00::2"))
        let company = NetworkInterface(name: "corp0", kind: .tunnel, addresses: ["10.9.0.1"])
        #expect(check(port: 7473, [company]).outcome == .warn)
        #expect(check(port: 7473, [company]).finding.contains("corp0 (a VPN)"))
        #expect(check(port: 7473, [company], connected: 1).outcome == .ok, "it has arranged itself so")
        #expect(check(port: 7473, [company, wifi]).outcome == .ok)
        // A laptop that waits for its fleet listens nowhere; to join one it needs a network.
        func waiting(_ interfaces: [NetworkInterface]) -> HealthCheck {
            HealthRules.network(
                listen: listen, port: nil, isLoopbackOnly: false, waitsForFleet: true, interfaces: interfaces,
                connected: 0)
        }
        #expect(waiting([]).outcome == .fail)
        #expect(waiting([wifi]).outcome == .ok && waiting([wifi]).finding.contains("listens nowhere yet"))
        #expect(waiting([wifi]).finding.contains("at port 7473"))
    }

    @Test("Without avahi discovery fails, unless addresses are configured; switched off it is as was wished")
    func discovery() {
        func check(
            _ status: DiscoveryStatus, _ avahi: AvahiProbe.State = .closed, peers: Int = 0
        ) -> HealthCheck {
            HealthRules.discovery(status, avahi: avahi, configuredPeers: peers)
        }
        let off = HealthRules.discovery(
            DiscoveryStatus(state: .off), avahi: .closed, configuredPeers: 0, connected: 1)
        #expect(off == .ok(.discovery, "switched off; 1 laptop is connected"), "others know where it is")
        let gone = DiscoveryStatus(state: .unavailable, reason: "no avahi: none", remedy: "start it")
        #expect(check(gone) == .fail(.discovery, "no avahi: none", remedy: "start it"))
        #expect(check(gone, peers: 1).outcome == .warn)
        #expect(check(gone, .masked).finding.contains("masked"))
        #expect(check(gone, .masked).remedy?.contains("systemctl unmask") == true)
        #expect(check(gone, .missing).remedy?.contains("apt-get install") == true)
        #expect(check(DiscoveryStatus(state: .unavailable)).outcome == .unknown, "it has just been started")
        #expect(check(DiscoveryStatus(state: .off), peers: 2).outcome == .ok)
        #expect(check(DiscoveryStatus(state: .off)).outcome == .warn)
        let on = DiscoveryStatus(state: .available)
        #expect(check(on, .answers) == .ok(.discovery, "on, through avahi"))
        #expect(check(on, .stopped).outcome == .ok, "what is found counts")
        #expect(check(on, .silent).outcome == .fail && check(on, .silent).remedy?.contains("restart avahi") == true)
    }

    @Test("A damaged store fails; one that was a copy says so")
    func store() {
        #expect(HealthRules.store(problems: ["row 1 is missing"], bytes: 0, wasRenewed: false).outcome == .fail)
        #expect(HealthRules.store(problems: [], bytes: 1_234_567, wasRenewed: true).outcome == .warn)
        #expect(HealthRules.store(problems: [], bytes: 1_234_567, wasRenewed: false).finding == "sound, 1.2 MB")
    }
}

/// How a laptop stands in its fleet.
struct FleetHealthTests {
    private func check(
        daysLeft: Int64 = 40, issuerDaysLeft: Int64? = nil, isRevoked: Bool = false, isIssuerRevoked: Bool = false
    ) -> HealthCheck {
        let (day, now): (Int64, Int64) = (86_400_000, 1_795_564_800_000)
        return HealthRules.fleet(
            FleetStanding(
                role: .member, validUntil: now + daysLeft * day, issuerUntil: issuerDaysLeft.map { now + $0 * day },
                isRevoked: isRevoked, isIssuerRevoked: isIssuerRevoked, now: now))
    }

    @Test(
        "A laptop without a fleet, in grace or with a right that ends soon is warned; one that nobody lets in has failed"
    )
    func fleet() {
        #expect(HealthRules.fleet(nil).outcome == .warn)
        #expect(check() == .ok(.fleet, "member, certificate good for 40 days"))
        #expect(check(daysLeft: 14).outcome == .ok && check(daysLeft: 13).outcome == .warn)
        #expect(check(daysLeft: 1).finding == "member, the certificate ends in 1 day, and nobody has renewed it")
        let damage = FleetIdentity.Damage(finding: "it is torn", remedy: "mend it")
        #expect(HealthRules.fleet(nil, damage: damage).outcome == .fail)
        #expect(HealthRules.fleet(nil, damage: damage).finding.hasSuffix("without others and the server: it is torn"))
        #expect(HealthRules.fleet(nil, damage: damage).remedy == "mend it")
        #expect(check(daysLeft: -3).outcome == .warn)
        #expect(
            check(daysLeft: -3).finding
                == "the certificate ran out 3 days ago; others still talk to this laptop for 42 days")
        #expect(check(daysLeft: -46).outcome == .fail)
        #expect(check(issuerDaysLeft: 61).outcome == .ok)
        #expect(check(issuerDaysLeft: 59).outcome == .warn)
        #expect(check(isRevoked: true).finding.hasPrefix("this laptop was revoked"))
        #expect(check(isIssuerRevoked: true).finding.hasPrefix("whoever let this laptop in was revoked"))
        #expect(check(isRevoked: true).outcome == .fail && check(isIssuerRevoked: true).outcome == .fail)
    }

    @Test("A port for figures that is taken is a warning, and so is one of two")
    func metrics() {
        let alone = MetricsAddress(host: MetricsAddress.thisMachine, port: 9473)
        let open = MetricsAddress(host: "10.0.0.5", port: 9473)
        #expect(HealthRules.metrics(nil).outcome == .ok)
        #expect(HealthRules.metrics(alone, faults: [], isOpen: true).finding.hasSuffix("for this machine alone"))
        #expect(HealthRules.metrics(open, faults: [], isOpen: true).finding.hasSuffix("for whoever gets there"))
        #expect(HealthRules.metrics(alone, faults: [], isOpen: false).outcome == .unknown)
        let fault = MetricsPort.Fault(
            finding: "127.0.0.1:9473 (Address already in use)", remedy: "name another one with --metrics")
        let taken = HealthRules.metrics(alone, faults: [fault], isOpen: true)
        #expect(taken.outcome == .warn && taken.finding == "no figures at 127.0.0.1:9473 (Address already in use)")
        #expect(taken.remedy == "name another one with --metrics")
    }
}
