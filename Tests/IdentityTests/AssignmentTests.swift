import CRDT
import Simulation
import Testing

@testable import Identity

@Suite("Who may say who is on a job", .timeLimit(.minutes(1)))
struct AssignmentTests {
    private let fleet: TestFleet
    private let job = JobID("smith") ?? JobID(.job)
    private let key = DeviceKey()
    private let anna = DeviceID(high: 1, low: 1)
    private let now = TimeBounds(TestFleet.today, within: 0)

    init() throws { fleet = try TestFleet() }

    private func said(
        as role: FleetRole, by key: DeviceKey? = nil, showing chain: [[UInt8]]? = nil, in other: TestFleet? = nil,
        at stamp: UInt64 = 7
    ) throws -> Assignment {
        let key = key ?? self.key
        let certificates = try chain ?? fleet.chain(key, as: role)
        return try #require(
            (other ?? fleet).trust.assignment(
                of: job, [Assignment.Word(anna, isOn: true)], stamp: Stamp(rawValue: stamp), by: key,
                certificates: certificates))
    }

    @Test("Leads and the office may, whatever became of their certificates since; others may not")
    func roles() async throws {
        for role in FleetRole.allCases {
            let isAllowed = await fleet.trust.allows(try said(as: role), now: now)
            #expect(isAllowed == (role == .lead || role == .office), "\(role)")
        }
        let late = TimeBounds(TestFleet.today + 400 * TestFleet.day, within: 0)
        #expect(await fleet.trust.allows(try said(as: .lead), now: late))
    }

    @Test("Nobody else's certificates, no other fleet's, no other content")
    func forged() async throws {
        let other = try TestFleet()
        let member = DeviceKey()
        #expect(await !fleet.trust.allows(try said(as: .lead, showing: other.chain(key, as: .lead)), now: now))
        #expect(await !fleet.trust.allows(try said(as: .lead, in: other), now: now), "signed for another fleet")
        let borrowed = try said(as: .member, by: member, showing: fleet.chain(key, as: .lead))
        #expect(await !fleet.trust.allows(borrowed, now: now), "another's certificates")
        let good = try said(as: .lead)
        let named = try #require(
            fleet.trust.assignment(
                of: job, [Assignment.Word(anna, isOn: false)], stamp: Stamp(rawValue: 7), by: key,
                certificates: good.certificates))
        let swapped = try Assignment(
            content: named.content, signature: good.signature, certificates: good.certificates)
        #expect(await !fleet.trust.allows(swapped, now: now), "another content")
        let nobody = try Assignment(content: good.content, signature: good.signature, certificates: [])
        #expect(await !fleet.trust.allows(nobody, now: now))
        #expect(await fleet.trust.allows(good, now: now))
    }

    private func cutoff(
        of device: DeviceID, by key: DeviceKey, revoked bytes: [UInt8], at stamp: Stamp
    ) async throws -> Bool {
        let cutoff = Assignment.Word.Cutoff(revocation: bytes, heads: VersionVector())
        let said = try #require(
            fleet.trust.assignment(
                of: job, [Assignment.Word(device, .cutoff(cutoff))], stamp: stamp, by: key,
                certificates: fleet.chain(key, as: .lead)))
        return await fleet.trust.allows(said, now: now)
    }

    @Test("How far a laptop's journals count says a lead who shows that it was revoked, and not before that")
    func cutoffs() async throws {
        let revocation = try fleet.revocation(of: anna)
        let moment = UInt64(revocation.time)
        let (same, next) = (Stamp(milliseconds: moment, counter: 0), Stamp(milliseconds: moment, counter: 1))
        #expect(try await cutoff(of: anna, by: key, revoked: revocation.bytes, at: next))
        #expect(try await !cutoff(of: anna, by: key, revoked: revocation.bytes, at: same), "only the revoker is first")
        #expect(try await !cutoff(of: anna, by: key, revoked: [], at: next))
        let other = try TestFleet()
        #expect(try await !cutoff(of: anna, by: key, revoked: other.revocation(of: anna).bytes, at: next))
        let another = try fleet.revocation(of: DeviceID(high: 2, low: 2))
        #expect(try await !cutoff(of: anna, by: key, revoked: another.bytes, at: next), "another laptop was revoked")
        let own = try fleet.revocation(of: key.publicKey.device)
        #expect(try await !cutoff(of: key.publicKey.device, by: key, revoked: own.bytes, at: next), "nobody of itself")
        // Who has signed the revocation may say it at the same time.
        let issuing = DeviceKey()
        let issuer = try fleet.root.issue(.issuer, to: issuing.publicKey, as: .lead, now: TestFleet.today)
        let signed = try Revocation(
            of: anna, by: issuer, key: issuing, fleet: fleet.trust.root.key, now: TestFleet.today)
        #expect(try await cutoff(of: anna, by: issuing, revoked: signed.bytes, at: same))
        // A member's certificate is none of a lead.
        let cutoff = Assignment.Word.Cutoff(revocation: revocation.bytes, heads: VersionVector())
        let said = try #require(
            fleet.trust.assignment(
                of: job, [Assignment.Word(anna, .cutoff(cutoff))], stamp: next, by: key,
                certificates: fleet.chain(key)))
        #expect(await !fleet.trust.allows(said, now: now))
    }

    @Test("A log tells news from what it knows, and takes nothing together with what nobody may say")
    func news() async throws {
        var log = AssignmentLog()
        let good = try said(as: .lead)
        #expect(try await log.news(in: [good, good], of: fleet.trust, now: now) == [good])
        let isNews = log.add(good)
        #expect(isNews && log[job].includes(anna) && log.jobs == [job])
        // What is no news is not looked at again.
        #expect(try await log.news(in: [good], of: fleet.trust, now: now) == [])
        let member = DeviceKey()
        let forged = try said(as: .member, by: member, at: 8)
        await #expect(throws: AssignmentRefusal(signer: member.publicKey.device)) {
            try await AssignmentLog().news(in: [good, forged], of: fleet.trust, now: now)
        }
    }

    @Test("What a member may be told follows from its certificate")
    func access() async throws {
        for (role, day, sees, inGrace) in [
            (FleetRole.member, 0 as Int64, false, false), (.lead, 50, false, true), (.office, 0, true, false),
        ] {
            let chain = try fleet.chain(key, as: role)
            let time = TimeBounds(TestFleet.today + day * TestFleet.day, within: 0)
            let member = try await fleet.trust.judge(chain, now: time, revocations: RevocationLog())
            #expect(
                member.jobAccess
                    == JobAccess(
                        key.publicKey.device, seesAllJobs: sees, isInGrace: inGrace, mayAssign: role != .member),
                "\(role)")
        }
        #expect(FleetRole.allCases.filter(\.mayWrite) == [.member, .lead, .office, .server])
    }

    @Test("A reader's journal is nobody's who may write")
    func reader() async throws {
        for (role, expected) in [(FleetRole.reader, false), (.member, true)] {
            let author = try #require(
                JournalAuthor(key: key.publicKey.bytes, nonce: 7, certificates: fleet.chain(key, as: role)))
            #expect(await VouchedAuthors().includes(author, in: fleet.trust, now: now) == expected, "\(role)")
        }
    }
}
