import Authorship
import CRDT
import Engine
import Identity
import Storage

/// In a third of the histories leads say who is on which job: whose word counts there, and about what they speak.
final class Membership: @unchecked Sendable {
    let fleet: TestFleet
    /// Of each laptop of the crew.
    let roles: [FleetRole]
    /// About which somebody speaks; the others are everybody's.
    let jobs: [JobID]
    var generator: SeededGenerator
    private var devices: [DeviceID: FleetRole] = [:]
    private var chains: [DeviceID: [[UInt8]]] = [:]
    /// Told what a lead has signed.
    var isSaying: (Assignment) -> Void = { _ in }
    /// What leads were told that it is kept.
    var said: [Assignment] = []

    /// Nil in the histories in which every job is everybody's. Drawn apart, so that those are what they were without it.
    init?(seed: UInt64, crew: Int, jobs: [JobID]) throws {
        generator = SeededGenerator(seed: seed ^ 0x3e_3b_e5)
        guard generator.oneIn(3) else { return nil }
        fleet = try TestFleet(founded: VirtualClock.epoch / 1_000)
        var roles = (0..<crew).map { _ in FleetRole.member }
        let lead = Int.random(in: 0..<crew, using: &generator)
        roles[lead] = generator.oneIn(4) ? .office : .lead
        if crew > 2, generator.oneIn(2) { roles[(lead + Int.random(in: 1..<crew, using: &generator)) % crew] = .lead }
        self.roles = roles
        var narrowed = [jobs[0]]
        for job in jobs.dropFirst() where generator.oneIn(2) { narrowed.append(job) }
        self.jobs = narrowed
    }

    var fleetKey: [UInt8] { fleet.trust.root.key.bytes }

    /// Those who may say who is on a job.
    var leads: [Int] { roles.indices.filter { roles[$0].mayAssign } }

    func role(of device: DeviceID) -> FleetRole { devices[device] ?? .member }

    /// A laptop has begun to use a key.
    ///
    /// - Parameter index: nil for somebody who is none of the crew, and may say nothing.
    func enrol(_ signer: TestSigner, of index: Int?) throws {
        guard chains[signer.device] == nil else { return }
        let role = index.map { roles[$0] } ?? .member
        devices[signer.device] = role
        chains[signer.device] = try fleet.chain(signer.key, as: role)
    }

    func certificates(of device: DeviceID) -> [[UInt8]] { chains[device] ?? [] }

    /// A word as the fleet wants it signed; whether it counts is another matter.
    func statement(
        of job: JobID, _ words: [Assignment.Word], stamp: Stamp, by signer: TestSigner
    ) -> Assignment? {
        fleet.trust.assignment(
            of: job, words, stamp: stamp, by: signer.key, certificates: certificates(of: signer.device))
    }

    // MARK: What laptops and the server know

    /// Of one start of a laptop's daemon.
    func register(
        of store: Store, signer: TestSigner, _ index: Int, _ clock: ClockService, _ witness: Witness
    ) async throws -> SimulatedAssignments {
        try enrol(signer, of: index)
        return try await register(of: store, now: { Int64(clock.now.milliseconds) }, witness)
    }

    /// - Parameter now: by whose clock this is.
    func register(
        of store: Store, now: @escaping () -> Int64, _ witness: Witness
    ) async throws -> SimulatedAssignments {
        try await SimulatedAssignments(store: store, membership: self, now: now) { [fleetKey] statements in
            witness.learned(statements, in: store, of: fleetKey)
        }
    }
}
