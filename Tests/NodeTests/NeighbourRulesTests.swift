import CRDT
import LocalAPI
import Replication
import Simulation
import Testing

@testable import Engine
@testable import Node

/// What the doctor says of other laptops.
struct NeighbourRulesTests {
    private let anna = PeerAddress(host: "10.0.0.1", port: 7473)
    private let annaToo = PeerAddress(host: "fd00::1", port: 7473)
    private let bert = PeerAddress(host: "10.0.0.2", port: 7473)

    private func device(_ number: UInt16) -> DeviceID { DeviceID(high: UInt128(number) << 112, low: 1) }

    private func unreached(
        _ change: (inout DialPlan, inout SeededGenerator) -> Void, connected: Set<DeviceID> = []
    ) -> [UnreachedPeer] {
        var plan = DialPlan()
        var generator = SeededGenerator(seed: 1)
        change(&plan, &generator)
        return InventoryService.unreached(plan.targets, connected: connected) { $0 == "aaaa0000" ? "anna" : nil }
    }

    @Test("A laptop counts as unreached once each of its addresses has failed, with what tells most")
    func addresses() {
        let half = unreached { plan, generator in
            plan.onFound("one", id: "aaaa0000", addresses: [anna, annaToo], now: 0)
            plan.onFailed(anna, .silent, now: 0, using: &generator)
        }
        #expect(half == [])
        let both = unreached { plan, generator in
            plan.onFound("one", id: "aaaa0000", addresses: [anna, annaToo], now: 0)
            plan.onFailed(anna, .silent, now: 0, using: &generator)
            plan.onFailed(annaToo, .refused, now: 0, using: &generator)
        }
        #expect(both == [UnreachedPeer(name: "anna", isAnnounced: true, failure: .refused, address: annaToo)])
        let connected = unreached(
            { plan, generator in
                plan.onFound("one", id: "aaaa0000", addresses: [anna], now: 0)
                plan.onFailed(anna, .refused, now: 0, using: &generator)
            }, connected: [device(0xAAAA)])
        #expect(connected == [], "it has dialled us")
    }

    @Test("What came of an address is forgotten once somebody was reached there")
    func forgotten() {
        let reached = unreached { plan, generator in
            plan.onConfigured(bert, now: 0)
            plan.onFailed(bert, .silent, now: 0, using: &generator)
            plan.onEstablished(bert, device: device(0xBBBB), now: 1)
            plan.onFailed(bert, now: 2, using: &generator)
        }
        #expect(reached == [])
        let named = unreached { plan, generator in
            plan.onConfigured(bert, now: 0)
            plan.onFailed(bert, .noWay, now: 0, using: &generator)
        }
        #expect(named.map(\.isAnnounced) == [false] && named.first?.failure == .noWay)
    }

    private func peer(_ name: String, _ failure: DialFailure, isAnnounced: Bool = true) -> UnreachedPeer {
        UnreachedPeer(name: name, isAnnounced: isAnnounced, failure: failure, address: anna)
    }

    @Test("Laptops that cannot be reached are named with why; alone with them, this laptop fails")
    func reach() {
        #expect(HealthRules.reach([], connected: 0).outcome == .unknown)
        #expect(HealthRules.reach([], connected: 2).outcome == .ok)
        let alone = HealthRules.reach([peer("anna", .silent), peer("bert", .refused)], connected: 0)
        #expect(alone.outcome == .fail)
        #expect(alone.finding.contains("anna at 10.0.0.1:7473: no answer; bert at 10.0.0.1:7473: it refuses"))
        #expect(alone.remedy?.contains("ufw allow 7473/tcp") == true)
        #expect(HealthRules.reach([peer("anna", .silent)], connected: 1).outcome == .warn)
        #expect(HealthRules.reach([peer("anna", .silent, isAnnounced: false)], connected: 0).outcome == .warn)
        let many = HealthRules.reach((0..<5).map { peer("laptop \($0)", .silent) }, connected: 1)
        #expect(many.finding.hasSuffix("; 2 more"))
    }

    @Test("Every way to fail has words and a remedy", arguments: DialFailure.allCases)
    func failures(failure: DialFailure) {
        let check = HealthRules.reach([peer("anna", failure)], connected: 1)
        #expect(check.outcome == .warn && check.remedy?.isEmpty == false)
    }

    @Test("Who finds nobody and is found by others is kept apart; who is alone cannot know")
    func isolation() {
        func outcome(_ seconds: Int64?, found: Int = 0, incoming: [String] = []) -> HealthCheck.Outcome {
            HealthRules.isolation(
                Neighbourhood(searchedSeconds: seconds, found: found, incoming: incoming, connected: incoming.count)
            ).outcome
        }
        #expect(outcome(nil, incoming: ["anna"]) == .unknown)
        #expect(outcome(HealthRules.searchSeconds, incoming: ["anna"]) == .warn)
        #expect(outcome(HealthRules.searchSeconds - 1, incoming: ["anna"]) == .unknown)
        #expect(outcome(3_600) == .unknown)
        #expect(outcome(1, found: 1) == .ok)
        #expect(outcome(3_600, found: 1, incoming: ["anna"]) == .ok)
    }

    private func hello(_ name: String, _ minimum: UInt32, _ maximum: UInt32, number: UInt16 = 1) -> Hello {
        Hello(minimumVersion: minimum, maximumVersion: maximum, device: device(number), instance: 1, name: name)
    }

    @Test("Whoever speaks another protocol is named with both versions, and which one to update")
    func versions() {
        let (oldest, newest) = (ProtocolLimits.minimumVersion, ProtocolLimits.version)
        #expect(HealthRules.versions([]).outcome == .ok)
        let newer = HealthRules.versions([hello("cleo", newest + 1, newest + 2)])
        #expect(newer.outcome == .fail && newer.finding.contains("cleo (00010000) speaks version \(newest + 1) to"))
        #expect(newer.finding.contains("this laptop version "))
        #expect(newer.remedy?.hasPrefix("update Muster on this laptop;") == true)
        let older = HealthRules.versions([hello("dora", 0, oldest - 1)])
        #expect(older.remedy?.hasPrefix("update Muster on dora;") == true)
    }

    @Test("Who was turned away is forgotten when it fits, and after a while")
    func memory() {
        let newest = ProtocolLimits.version
        var unfit = UnfitVersions()
        unfit.note(hello("cleo", newest + 1, newest + 1, number: 1), now: 0)
        unfit.note(hello("dora", newest, newest, number: 2), now: 0)
        #expect(unfit.all(now: 1).map(\.name) == ["cleo"])
        #expect(unfit.all(now: 600_000) == [])
        unfit.note(hello("cleo", newest, newest, number: 1), now: 2)
        #expect(unfit.all(now: 3) == [])
        for number in UInt16(3)..<200 { unfit.note(hello("x", newest + 1, newest + 1, number: number), now: 4) }
        #expect(unfit.all(now: 5).count == 64)
    }
}
