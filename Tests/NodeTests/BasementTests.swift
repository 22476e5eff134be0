import CRDT
import Engine
import FleetTLS
import Identity
import LocalAPI
import Simulation
import Storage
import Testing
import Timekeeping
import Transport

@testable import Node

/// A crew that sees neither an issuer nor a server for weeks, in virtual time: their wall clocks are wrong by years, and they last
/// heard the time on the first day.
@Suite("Weeks in the basement")
struct BasementTests {
    private static let day = TestFleet.day
    private static let today = TestFleet.today

    private let fleet: TestFleet
    private let bert: Laptop
    private let carl: Laptop

    init() async throws {
        fleet = try TestFleet()
        bert = try await Laptop("bert")
        carl = try await Laptop("carl")
        for laptop in [bert, carl] {
            try await learnTime(laptop, days: 0)
            try await enrol(laptop, as: .member)
        }
    }

    /// From a server.
    private func learnTime(_ laptop: Laptop, days: Int64) async throws {
        let (elapsed, time) = (laptop.machine.elapsedMicroseconds, (Self.today + days * Self.day) * 1_000)
        await laptop.core.replicator.learn(
            .server(TimeExchange(sent: elapsed, received: time, answered: time, returned: elapsed)))
        #expect(abs(laptop.service.fleet.time - time / 1_000) < 1_000)
    }

    private func enrol(_ laptop: Laptop, as role: FleetRole) async throws {
        let request = try laptop.service.fleet.request
        try await laptop.service.fleet.install(fleet.papers(request, as: role))
    }

    private func chain(_ laptop: Laptop) -> [[UInt8]] { laptop.service.fleet.credentials?.certificates ?? [] }

    private func pass(days: Int64) {
        for laptop in [bert, carl] { laptop.machine.pass(milliseconds: days * Self.day) }
    }

    /// What carl makes of bert when they meet.
    private func refusal() async -> String? {
        do {
            _ = try await carl.service.fleet.admit(chain(bert))
            return nil
        } catch {
            return error.description
        }
    }

    @Test("A crew goes on with what it has for ninety days, gets nothing new after 45, and is apart then")
    func ninetyDays() async throws {
        let job = try await bert.job("Smith", id: "smith")
        _ = try await bert.add(["name": "Sofa"], to: job)
        try await bert.meet(carl, over: job)
        for day in stride(from: Int64(0), through: 100, by: 5) {
            let reason = await refusal()
            // Until the end of the 90th day, whatever their clocks may be wrong by since the first one.
            #expect((reason == nil) == (day <= 90), "on day \(day): \(reason ?? "let in")")
            if day > 90 { #expect(reason?.contains("ran out") == true) }
            if reason == nil {
                let access = carl.service.fleet.jobAccess(of: bert.store.identity.device)
                #expect(access.mayReceive(JobRoster(), holds: true))
                #expect(access.mayReceive(JobRoster(), holds: false) == (day <= 45), "on day \(day)")
                // What one writes the other takes, and both show the same.
                _ = try await bert.add(["name": "Found on day \(day)"], to: job)
                _ = try await carl.add(["name": "Seen on day \(day)"], to: job)
                try await bert.meet(carl, over: job)
                #expect(try await bert.service.job(job).digest == carl.service.job(job).digest)
            }
            pass(days: 5)
        }
        #expect(try await bert.items(job).count == 1 + 2 * 19)
    }

    @Test("An issuer renews, and a laptop asks for it, from half-way on and not before")
    func halfWay() async throws {
        let lea = try await Laptop("lea")
        try await learnTime(lea, days: 0)
        let issuer = try fleet.root.issue(.issuer, to: lea.service.fleet.publicKey, as: .lead, now: Self.today)
        try await lea.service.fleet.install(issuer.pem + fleet.root.certificate.pem)
        // 45 days make 22 and a half.
        for laptop in [bert, lea] { laptop.machine.pass(milliseconds: 22 * Self.day) }
        for laptop in [bert, lea] {
            let wait = try #require(laptop.service.fleet.untilRenewal)
            #expect(wait > 0 && wait <= Self.day / 2)
        }
        #expect(await lea.service.fleet.renewed(chain(bert)) == nil)
        for laptop in [bert, lea] { laptop.machine.pass(milliseconds: Self.day) }
        for laptop in [bert, lea] { #expect(laptop.service.fleet.untilRenewal == 0) }
        let fresh = try #require(await lea.service.fleet.renewed(chain(bert))?.first)
        #expect(fresh.key == bert.service.fleet.publicKey)
        #expect(abs(fresh.notAfter - Self.today - (23 + 45) * Self.day) < Self.day / 2)
    }

    @Test("Whoever comes out meets an issuer and is renewed, however late", arguments: [30, 60, 100] as [Int64])
    func renewed(days: Int64) async throws {
        let before = try #require(bert.service.fleet.membership?.own.notAfter)
        pass(days: days)
        #expect(bert.service.fleet.untilRenewal == 0)
        let lea = try await Laptop("lea")
        lea.machine.pass(milliseconds: days * Self.day)
        try await learnTime(lea, days: days)
        let key = lea.service.fleet.publicKey
        let issuer = try fleet.root.issue(.issuer, to: key, as: .lead, now: Self.today + days * Self.day)
        try await lea.service.fleet.install(issuer.pem + fleet.root.certificate.pem)
        let fresh = try #require(await lea.service.fleet.renewed(chain(bert)))
        try await bert.service.fleet.installRenewed(fresh)
        let after = try #require(bert.service.fleet.membership?.own.notAfter)
        #expect(abs(after - before - days * Self.day) < Self.day / 2)
        #expect(await refusal() == nil, "carl, who knows the time as well as he can, lets bert in again")
        // A laptop that was revoked meanwhile is not renewed.
        _ = try await lea.service.fleet.learnRevocations([fleet.revocation(of: carl.store.identity.device).bytes])
        #expect(await lea.service.fleet.renewed(chain(carl)) == nil)
    }

    @Test("Whoever meets the server alone goes on by its word, until that server is revoked")
    func server() async throws {
        let (laptop, key) = (bert.service.fleet, DeviceKey())
        let its = try fleet.chain(key, as: .server)
        pass(days: 100)
        let member = try await fleet.trust.judgeRenewal(chain(bert), now: .since(0), revocations: RevocationLog())
        func renewal(by chain: [[UInt8]], _ key: DeviceKey) throws -> [[UInt8]] {
            let renewal = try CertificateAuthority.renewal(
                of: member, by: FleetCertificate(chain[0]), key: key, fleet: fleet.trust.root.key,
                now: Self.today + 100 * Self.day)
            return [renewal.bytes] + chain
        }
        let strange = try TestFleet().chain(key, as: .server)
        for wrong in [try renewal(by: strange, key), its, [], Array(try renewal(by: its, key).prefix(2))] {
            #expect(try await !laptop.installProlonged(wrong))
        }
        let good = try renewal(by: its, key)
        #expect(try await laptop.installProlonged(good))
        #expect(try await !laptop.installProlonged(good), "no longer than what there is")
        #expect(chain(bert).first == good[0] && chain(bert).count == 5)
        #expect(laptop.certificates(of: laptop.publicKey) == Array(chain(bert)[1...2]), "beside which it signs")
        #expect(laptop.membership?.validUntil == Self.today + 145 * Self.day)
        #expect(try #require(laptop.untilRenewal) > 20 * Self.day)
        #expect(await refusal() == nil)
        #expect(carl.service.fleet.jobAccess(of: bert.store.identity.device).mayReceive(JobRoster(), holds: false))
        let entry = try fleet.revocation(of: key.publicKey.device).bytes
        _ = try await carl.service.fleet.learnRevocations([entry])
        #expect(await refusal()?.contains("ran out") == true, "who has heard of it first")
        _ = try await laptop.learnRevocations([entry])
        #expect(chain(bert).count == 2 && laptop.untilRenewal == 0 && !laptop.isRevoked)
        #expect(laptop.revocation(concerning: laptop.device) == nil, "nobody who has let it in was revoked")
        #expect(try await !laptop.installProlonged(good))
    }

    @Test("A laptop that nobody has told the time takes its own new certificate for a word of it")
    func neverTold() async throws {
        pass(days: 100)
        #expect(await refusal()?.contains("ran out") == true)
        let dora = try await Laptop("dora")
        let late = try fleet.chain(dora.service.fleet.publicKey, on: 100).map { try FleetCertificate($0).pem }.joined()
        try await dora.service.fleet.install(late + fleet.root.certificate.pem)
        // Dora's own clock is of another year, and no server has told her: her own certificate tells that it is day 100.
        await #expect(throws: (any Error).self) { try await dora.service.fleet.admit(chain(bert)) }
    }
}
