package import CRDT

/// A whole run written down: the laptops, the network and every step. A pure function of the seed, unless shrinking has
/// dropped steps.
package struct Plan: Hashable, Sendable {
    package let seed: UInt64
    package let devices: Int
    package internal(set) var profile: Profile
    package var steps: [Step]

    static let fields: [FieldName] = [
        "name", "room", "barcode", "condition", "quantity", "volumeCubicFeet", "category",
    ]
    /// Of the job itself.
    static let jobFields: [FieldName] = ["name", "kind"]

    /// What a run is like as a whole.
    package struct Profile: Hashable, Sendable {
        /// Who can ever reach whom.
        package enum Topology: Hashable, Sendable, CaseIterable {
            case everybody, chain, star
        }

        package var topology = Topology.everybody
        /// How many jobs people work on.
        package var jobs = 1
        /// Milliseconds of a message on its way, at most.
        package var longestDelay: UInt64 = 30
        /// One message in so many is lost, and its connection with it; nil for none.
        package var losesOneIn: Int?
        /// One message in so many comes twice.
        package var duplicatesOneIn: Int?
        /// The faults that this run draws from: each run has some of them, so that each is also seen without the others.
        package var faults: Set<Fault> = []
        package var clocks: [ClockProfile] = []
        /// Laptops from this one on are not there at the start.
        package var presentAtStart = 0
    }

    package struct ClockProfile: Hashable, Sendable {
        /// How much faster the laptop's clock runs.
        package var partsPerMillion: Int64 = 0
        package var wallErrorMilliseconds: Int64 = 0
        package var reachesServer = false
    }

    /// Breaks every connection of a laptop, and lets it have no other.
    func cutsOff(_ device: Int) -> [Step] {
        profile.clocks.indices.filter { $0 != device }.map { other in
            Step(wait: 0, action: .cut(device, other, isOneWay: false, breaks: true))
        }
    }

    /// The id of an item of the plan; some share their millisecond, as items of one scan do.
    package func item(_ number: Int) -> ItemID {
        var generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x9e37_79b9)
        return ItemID(milliseconds: UInt64(1 + number / 2), using: &generator)
    }
}

extension Plan {
    /// The run as people read it.
    package var text: String {
        var lines = [
            "seed \(seed): \(devices) devices, \(profile.presentAtStart) at the start, \(profile.jobs) jobs, \(profile.topology)"
        ]
        let faults = profile.faults.map(\.rawValue).sorted().joined(separator: " ")
        lines.append("  delay up to \(profile.longestDelay) ms; \(faults)")
        for (index, clock) in profile.clocks.enumerated() where clock != ClockProfile() {
            let server = clock.reachesServer ? ", reaches the server" : ""
            lines.append(
                "  device \(index): \(clock.partsPerMillion) ppm, wall \(clock.wallErrorMilliseconds) ms off\(server)")
        }
        return (lines + steps.map { "  \($0)" }).joined(separator: "\n")
    }
}
