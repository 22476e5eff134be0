import Checkup
import LocalAPIServer
import Simulation
import Storage
import CRDT
import Engine
import Foundation
import HTTPCoding
import LocalAPI
import Replication
import Testing

@testable import Node

/// The laptop itself, and others as far as it knows of them without a connection.
@Suite(.timeLimit(.minutes(1)))
struct DeviceServiceTests {
    @Test("The status names the laptop and says what it has not: peers, a server, a known time")
    func status() async throws {
        let anna = try await Laptop("anna")
        let status = try await anna.service.status()
        #expect(status.name == "anna" && status.deviceID == anna.store.identity.device.description)
        #expect(status.replicaID == anna.store.identity.replica.description && status.startedAt == Laptop.moment)
        #expect(status.peers.isEmpty && status.sync == .notConnected && status.server == nil && status.jobs == 0)
        #expect(status.clock == ClockStatus(source: .none, isSynchronised: false))
        #expect(status.queue == QueueStatus() && status.discovery.state == .off)
    }

    @Test("A clock without a source tells the laptop's own time and that nobody shares it")
    func clock() async throws {
        let anna = try await Laptop("anna")
        anna.machine.pass(milliseconds: 5_000)
        let report = try await anna.service.clockReport()
        let now = Timestamp(milliseconds: Laptop.moment.milliseconds + 5_000)
        #expect(report.time == now && report.source == .none && !report.isSynchronised && !report.isShared)
        #expect(report.stratum == nil && report.driftMilliseconds == nil && report.uncertaintyMilliseconds == nil)
        #expect(report.future.isEmpty)
    }

    @Test("What a laptop with a wrong clock wrote is shown, and listed as from the future until it is not")
    func future() async throws {
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert"))
        let job = try await anna.job("Smith", id: "Elm")
        let sofa = try await anna.add(["name": "Sofa"], to: job)
        try await anna.meet(bert, over: job)
        // What tells who a laptop is counts as a change, and is not from the future here.
        _ = try await bert.service.addNote(NoteRequest(text: "scratched"), item: sofa, job: job)
        let day: Int64 = 86_400_000
        bert.machine.pass(milliseconds: day)
        try await bert.set(["room": "Den"], of: sofa, in: job)
        try await anna.meet(bert, over: job)
        #expect(try await anna.service.item(sofa, job: job).fields["room"] == "Den")
        let work = try await anna.service.clockReport().future
        let latest = Timestamp(milliseconds: Laptop.moment.milliseconds + day + 1_000)
        #expect(
            work == [
                FutureWork(
                    job: job, jobName: "Smith", by: bert.store.identity.replica.description, byName: "bert", changes: 1,
                    latest: latest)
            ])
        let edits = try await anna.service.conflicts(job: job).future
        #expect(edits.map(\.item) == [sofa] && edits.map(\.field) == ["room"] && edits.map(\.written.at) == [latest])
        #expect(try await anna.service.job(job).conflicts == 0, "the number does not depend on the time")
        anna.machine.pass(milliseconds: day)
        #expect(try await anna.service.clockReport().future.isEmpty)
        #expect(try await anna.service.conflicts(job: job).future.isEmpty)
    }

    @Test("A check without peers has this laptop's digest, and says who is away and that nothing is known of them")
    func check() async throws {
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert"))
        let job = try await anna.job("Smith", id: "Elm")
        let alone = try await anna.service.check(job: job)
        #expect(alone.comparison == .notConnected && alone.devices.isEmpty)
        #expect(alone.digest == (try await anna.service.job(job).digest))
        try await anna.meet(bert, over: job)
        _ = try await bert.add(["name": "Lamp"], to: job)
        try await anna.meet(bert, over: job)
        let check = try await anna.service.check(job: job)
        #expect(check.devices == [DeviceCheck(deviceID: nil, name: "bert", outcome: .away)])
        #expect(check.comparison == .unknown && !check.isSame)
    }

    @Test("The roster has everybody who wrote, oneself as here and others as not heard of")
    func roster() async throws {
        let (anna, bert) = (try await Laptop("anna"), try await Laptop("bert"))
        let job = try await anna.job("Smith", id: "Elm")
        try await anna.meet(bert, over: job)
        _ = try await bert.add(["name": "Lamp"], to: job)
        try await anna.meet(bert, over: job)
        for (laptop, other) in [(anna, "bert"), (bert, "anna")] {
            let members = try await laptop.service.roster(job: job)
            #expect(members.map(\.replicaID) == members.map(\.replicaID).sorted() && members.count == 2)
            let own = try #require(members.first { $0.isOwn })
            #expect(own.replicaID == laptop.store.identity.replica.description && own.isConnected && own.behind == 0)
            let away = try #require(members.first { !$0.isOwn })
            #expect(away.name == other && !away.isConnected && away.heardAt == nil && away.behind == nil)
        }
    }

    @Test(
        "An address that cannot be one is refused",
        arguments: [
            "", "bert:", "bert:0", "bert:70000", "bert:+5", "fe80::1:7473", "[bert]:7473", "[fe80::1%]", "a b",
            "http://bert:7473", "[::1",
        ])
    func address(text: String) async throws {
        let anna = try await Laptop("anna")
        let refusal = await #expect(throws: APIError.self) {
            try await anna.service.addPeer(AddPeerRequest(address: text))
        }
        #expect(refusal?.code == .invalidValue && refusal?.message.contains("HOST:PORT") == true)
        #expect(try await anna.service.peers().isEmpty)
    }

    @Test(
        "An address is read as people write it",
        arguments: [
            ("bert", "bert:7473"), ("bert.local:80", "bert.local:80"), ("192.168.1.20", "192.168.1.20:7473"),
            ("[fe80::1%eth0]:7474", "[fe80::1%eth0]:7474"), ("[2001:db8::1]", "[2001:db8::1]:7473"),
            ("müller", "müller:7473"),
        ])
    func readAddress(text: String, address: String) async throws {
        let anna = try await Laptop("anna")
        #expect(try await anna.service.addPeer(AddPeerRequest(address: text)).address == address)
        #expect(try await anna.service.peers().map(\.address) == [address])
        #expect(try await anna.service.removePeer(text).address == address)
        #expect(try await anna.service.peers().isEmpty)
        await #expect(throws: APIError.self) { try await anna.service.removePeer(text) }
    }

    @Test("Others' networks stand before tunnels, and these before containers; IPv4 first")
    func ownAddresses() {
        let found = [
            NetworkInterface(name: "docker0", kind: .container, addresses: ["172.17.0.1"]),
            NetworkInterface(name: "work", kind: .tunnel, addresses: ["10.8.0.2"]),
            NetworkInterface(name: "wlan0", kind: .network, addresses: ["192.168.1.20", "2001:db8::7"]),
        ]
        let ordered = OwnAddresses.ordered(found, port: 7473)
        #expect(
            ordered.map(\.address) == ["192.168.1.20:7473", "[2001:db8::7]:7473", "10.8.0.2:7473", "172.17.0.1:7473"])
        #expect(ordered.map(\.kind) == [.network, .network, .tunnel, .container])
    }

    @Test("What was kept is there after a restart, in its order, once; what was removed is not")
    func keptPeers() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "kept-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = FleetFiles(path: directory.path)
        let kept = try KeptPeers(in: files, configured: [])
        let (anna, bert) = (PeerAddress(host: "anna", port: 7473), PeerAddress(host: "fe80::1%eth0", port: 7473))
        for address in [bert, anna, bert] { try kept.add(address) }
        #expect(try KeptPeers(in: files, configured: []).all == [anna, bert])
        #expect(try kept.remove(bert))
        #expect(try !kept.remove(bert))
        #expect(try KeptPeers(in: files, configured: []).all == [anna])
        for number in 1..<KeptPeers.most { try kept.add(PeerAddress(host: "laptop", port: number)) }
        #expect(throws: APIError.self) { try kept.add(bert) }
        #expect(kept.all.count == KeptPeers.most)
        try files.write("no JSON", to: KeptPeers.file)
        // Whoever records a job is not kept from it by that.
        var isTold = false
        #expect(try KeptPeers(in: files, configured: [], damaged: { isTold = true }).all.isEmpty && isTold)
        #expect(try files.read(KeptPeers.damagedFile) == "no JSON")
    }

    @Test("Who listens to a job hears of its changes in their order, and of no other job")
    func events() async throws {
        let anna = try await Laptop("anna")
        let (job, other) = (try await anna.job("Smith", id: "Elm"), try await anna.job("Jones", id: "Oak"))
        // What is told behind an answer is no news to who listens from now on.
        await anna.core.replicator.tellCommitted()
        let everything = try await anna.service.events(job: "Smith", type: nil, after: nil)
        let jobs = try await anna.service.events(job: nil, type: .job, after: nil)
        let publisher = Task { [core = anna.core] in await core.publisher.run() }
        _ = try await anna.add(["name": "Rug"], to: other)
        let sofa = try await anna.add(["name": "Sofa"], to: job)
        try await anna.set(["room": "Den"], of: sofa, in: job)
        var changes: [ChangeReport] = []
        while changes.count < 2, let event = await everything.event() {
            #expect(event.job == job)
            if case .change(let change) = event { changes.append(change) }
        }
        #expect(changes.map(\.action) == [.added, .changed] && changes.allSatisfy { $0.item == sofa })
        #expect(changes[1].fields == [FieldChange(field: "room", from: nil, to: "Den", standing: .stands)])
        anna.core.hub.finish()
        var advanced: [String?] = []
        while let event = await jobs.event() { advanced.append(event.job) }
        #expect(advanced == [other, job, job])
        // A daemon that stops is not held by who comes just then.
        #expect(await (try anna.service.events(job: nil, type: nil, after: nil)).event() == nil)
        publisher.cancel()
        await publisher.value
    }
}

extension EventSubscription {
    /// The next event; nil after the last.
    func event() async -> Event? {
        while let next = await next() {
            if case .event(let sent) = next { return sent.event }
        }
        return nil
    }
}
