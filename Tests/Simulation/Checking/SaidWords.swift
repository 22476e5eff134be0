import CRDT

/// All that somebody knows of who is on a job, word by word; what follows from it is worked out the slow way, from all of them.
struct SaidWords: Equatable {
    struct Word: Hashable {
        let device: DeviceID
        let isOn: Bool
        let stamp: Stamp
        let signer: DeviceID
    }

    private(set) var all: Set<Word> = []

    /// Nobody has said anything: the job is everybody's.
    var isEverybodys: Bool { all.isEmpty }

    mutating func add(_ statement: Assignment) {
        for said in statement.words {
            all.insert(
                Word(device: said.device, isOn: said.isOn, stamp: statement.stamp, signer: statement.signer))
        }
    }

    mutating func add(_ other: SaidWords) { all.formUnion(other.all) }

    /// The last one about each laptop, by time, then by who says it; of two of one at one time the one that takes off.
    var last: [DeviceID: Word] {
        let order = all.sorted { one, other in
            if one.stamp != other.stamp { return one.stamp < other.stamp }
            if one.signer != other.signer { return one.signer < other.signer }
            return one.isOn && !other.isOn
        }
        return Dictionary(order.map { ($0.device, $0) }, uniquingKeysWith: { $1 })
    }

    /// Whether it may be told of the job.
    func isFor(_ device: DeviceID) -> Bool { isEverybodys || last[device].map(\.isOn) ?? false }

    /// It is named in one, or has said one.
    func concern(_ device: DeviceID) -> Bool { all.contains { $0.device == device || $0.signer == device } }
}
