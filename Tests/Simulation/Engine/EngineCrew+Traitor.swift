import Authorship
import CRDT
import Engine
import Replication

/// Somebody whom the fleet has let in alters what it passes on, and invents the rest.
extension EngineCrew {
    /// How long it takes until a lie is found that is told while everything is calm.
    private static let noticing: Int64 = 120_000_000

    /// In a third of the histories. Drawn apart, so that the others are what they were without it.
    static func traitor(
        seed: UInt64, _ network: MemoryNetwork, _ laptops: [Laptop], _ jobs: [JobID], _ membership: Membership?
    ) throws -> Traitor? {
        var generator = SeededGenerator(seed: seed ^ 0x7_2a_18)
        guard generator.oneIn(3) else { return nil }
        let traitor = Traitor(laptops.count, seed: seed, network: network, jobs: jobs) {
            ObjectIdentifier(laptops[$0].engine.run)
        }
        try membership?.enrol(traitor.signer, of: nil)
        traitor.membership = membership
        return traitor
    }

    func letTraitorIn() {
        guard let traitor else { return }
        counters[.traitors] += 1
        checker.forkable.insert(traitor.author.replica)
        checker.writers[traitor.author.replica] = traitor.device
        traitor.wrote = { [unowned self] in checker.wroteElsewhere($0, of: $1, after: $2) }
        traitor.wasLeft = { [unowned self] peer in
            do { try await lookAtAccusation(by: peer) } catch { fail(error) }
        }
        traitor.come()
    }

    /// It goes for good, or stays and lies on: whoever alters work does not keep the others from agreeing. But whoever writes
    /// without an end does.
    func beginEndOfTreason() {
        guard let traitor, !traitor.isCrewDone else { return }
        traitor.isCrewDone = true
        if traitor.staysToTheEnd { traitor.come() } else { traitor.leave() }
    }

    /// Whether a laptop that has closed a connection for what was not signed has told its people of whom that came.
    private func lookAtAccusation(by peer: Traitor.Peer) async throws {
        let isForgery = [
            "has not signed", "has signed who is on the job", "not signed by it", "Nobody has told whose",
            "does not have the digest",
        ]
        .contains { peer.goodbye.contains($0) }
        guard isForgery else { return }
        let laptop = laptops[peer.laptop]
        let replicator = laptop.engine.replicator
        guard ObjectIdentifier(laptop.engine.run) == peer.start else { return }
        let isNamed = await replicator.refusedWork.contains { $0.device == traitor?.device }
        guard isNamed else {
            throw Violation("naming", "laptop \(peer.laptop) found '\(peer.goodbye)' and does not say of whom.")
        }
        scheduler.tell("laptop \(peer.laptop) names the traitor: \(peer.goodbye)")
        counters[.named] += 1
    }

    /// What is told while everybody is connected and agrees, nobody can overlook: each laptop that hears a lie that its author
    /// has not signed names the traitor.
    func exposeTraitor() throws {
        guard let traitor else { return }
        traitor.isQuiet = true
        traitor.come()
        var unaware = Set(network.neighbours(of: traitor.index))
        let before = try laptops.map { try accusations(by: $0, of: traitor.device) }
        let deadline = scheduler.now + Self.noticing
        while !unaware.isEmpty {
            for link in traitor.ready {
                guard let laptop = traitor.links[link]?.laptop, unaware.contains(laptop) else { continue }
                traitor.tellProvable(on: link)
            }
            scheduler.run(until: scheduler.now + 2_000_000)
            if let failure = failure ?? server.violation { throw failure }
            for laptop in unaware.sorted()
            where try accusations(by: laptops[laptop], of: traitor.device) > before[laptop] {
                unaware.remove(laptop)
            }
            guard scheduler.now < deadline else {
                throw Violation("naming", "laptops \(unaware.sorted()) were told lies and name nobody.")
            }
        }
        try checkAccused()
        traitor.leave()
    }

    private func accusations(by laptop: Laptop, of device: DeviceID) throws -> Int {
        let replicator = laptop.engine.replicator
        return try scheduler.finish {
            await replicator.refusedWork.reduce(0) { $0 + ($1.device == device ? $1.count : 0) }
        }
    }

    /// Nobody is called a forger who is none.
    func checkAccused() throws {
        for laptop in laptops {
            let replicator = laptop.engine.replicator
            let refused = try scheduler.finish { await replicator.refusedWork }
            for work in refused where work.device != traitor?.device {
                guard let device = work.device, maligned.contains(device) else {
                    throw Violation(
                        "naming",
                        "laptop \(laptop.index) says that \(work.device?.short ?? "the server") has forged something.")
                }
            }
        }
    }
}
