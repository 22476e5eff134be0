/// Who was put on a job and who was taken off it, the last word about each laptop; how far the journals of those count that were
/// revoked, the first word about each; and the statements in which these stand.
///
/// A pure function of the set of statements: order and repetition do not matter. Only statements of those who may assign
/// are to be taken in.
package struct JobRoster: Hashable, Sendable {
    /// About so many laptops the newest words stand, and the first cutoffs: a signer that names them without end fills no memory,
    /// and which stand does not hang on the order in which they came.
    package static let mostDevices = 4_096

    private struct Word: Hashable, Comparable, Sendable {
        let stamp: Stamp
        let signer: DeviceID
        let isOn: Bool

        /// Of two words of one signer at one time the stricter one: a copied disk may have written both.
        static func < (one: Word, other: Word) -> Bool {
            (one.stamp, one.signer, one.isOn ? 0 : 1) < (other.stamp, other.signer, other.isOn ? 0 : 1)
        }
    }

    /// How far the journals of a revoked laptop count in a job, and who has said so.
    package struct Cutoff: Hashable, Comparable, Sendable {
        let stamp: Stamp
        /// Whose word it is.
        package let signer: DeviceID
        /// Of a journal that is not named nothing counts.
        package let heads: VersionVector

        /// The first one stands: whoever says it later has heard of the revocation later, and may hold by then what a thief has
        /// brought to somebody who had not heard of it. Who has revoked the laptop is always first (`firstStamp`).
        package static func < (one: Cutoff, other: Cutoff) -> Bool {
            (one.stamp, one.signer, one.heads.fingerprint) < (other.stamp, other.signer, other.heads.fingerprint)
        }
    }

    /// What a cutoff is stamped with at the earliest: no clock that is behind puts it before the revocation, nor before the word of
    /// who has revoked the laptop.
    ///
    /// - Parameter revoked: the time of the revocation, in milliseconds since 1970.
    package static func firstStamp(revoked: Int64, byRevoker isRevoker: Bool) -> Stamp {
        let milliseconds = min(UInt64(clamping: revoked), Stamp.observable.milliseconds - 1)
        return Stamp(milliseconds: milliseconds, counter: isRevoker ? 0 : 1)
    }

    private var words: [DeviceID: Word] = [:]
    /// Of laptops that were revoked.
    package private(set) var cutoffs: [DeviceID: Cutoff] = [:]
    /// Those of which a word stands, in the order in which they came.
    package private(set) var statements: [Assignment] = []
    /// One number for all words that stand: whoever has the same needs no further word. 0 where nothing was said.
    package private(set) var fingerprint: UInt64 = 0

    /// Nothing was said: the job is everybody's.
    package init() {}

    /// Whether anybody was ever put on the job or taken off it. If not it is everybody's; if so it never is again.
    package var isAssigned: Bool { !words.isEmpty }

    /// Whether the job is for a laptop.
    package func includes(_ device: DeviceID) -> Bool { words.isEmpty || words[device]?.isOn ?? false }

    /// Whether a word about it stands.
    package func names(_ device: DeviceID) -> Bool { words[device] != nil }

    /// Whether a word about it stands, or one of its own about another.
    package func concerns(_ device: DeviceID) -> Bool {
        names(device) || statements.contains { $0.signer == device }
    }

    /// Those that are on it, ascending; nobody where it is everybody's.
    package var devices: [DeviceID] { words.filter(\.value.isOn).keys.sorted() }

    /// Those of which a word stands, ascending.
    package var named: [DeviceID] { words.keys.sorted() }

    /// A stamp later than all words about some laptops, so that a clock that is behind does not make the next ones void.
    package func nextStamp(now milliseconds: UInt64, about devices: [DeviceID]) -> Stamp {
        let last = devices.compactMap { words[$0]?.stamp }.max() ?? .zero
        return max(last.next, Stamp(milliseconds: min(milliseconds, Stamp.observable.milliseconds - 1), counter: 0))
    }

    /// When, in milliseconds since 1970, and by whom it was last said that a laptop is on the job, or off it; nil for one of
    /// which nobody has spoken.
    package func lastWord(about device: DeviceID) -> (isOn: Bool, milliseconds: UInt64, signer: DeviceID)? {
        words[device].map { ($0.isOn, $0.stamp.milliseconds, $0.signer) }
    }

    /// Takes in a statement about this job that somebody who may has signed.
    ///
    /// - Returns: whether some of it is the last word.
    package mutating func apply(_ statement: Assignment) -> Bool {
        let former = fingerprint
        for said in statement.words {
            switch Self.word(said, in: statement) {
            case .standing(let word):
                let known = words[said.device]
                guard known.map({ $0 < word }) ?? true else { continue }
                words[said.device] = word
                replace(known.map { Self.hash(said.device, $0) }, by: Self.hash(said.device, word))
            case .cutoff(let cutoff):
                let known = cutoffs[said.device]
                guard known.map({ cutoff < $0 }) ?? true else { continue }
                cutoffs[said.device] = cutoff
                replace(known.map { Self.hash(said.device, $0) }, by: Self.hash(said.device, cutoff))
            }
        }
        makeRoom()
        guard fingerprint != former else { return false }
        statements = (statements + [statement]).filter(stands)
        return true
    }

    /// The oldest words go. No older one comes back in their place: there are newer ones about as many laptops as there may be.
    private mutating func makeRoom() {
        for (device, word) in Self.surplus(of: words, by: <) {
            words[device] = nil
            replace(Self.hash(device, word), by: 0)
        }
        for (device, cutoff) in Self.surplus(of: cutoffs, by: >) {
            cutoffs[device] = nil
            replace(Self.hash(device, cutoff), by: 0)
        }
    }

    private static func surplus<Said: Comparable>(
        of said: [DeviceID: Said], by isFirst: ((Said, DeviceID), (Said, DeviceID)) -> Bool
    ) -> ArraySlice<(key: DeviceID, value: Said)> {
        guard said.count > mostDevices else { return [] }
        return said.sorted { isFirst(($0.value, $0.key), ($1.value, $1.key)) }.prefix(said.count - mostDevices)
    }

    /// A sum does not mind the order in which they came.
    private mutating func replace(_ known: UInt64?, by hash: UInt64) {
        fingerprint = fingerprint &+ hash &- (known ?? 0)
    }

    private enum Said {
        case standing(Word)
        case cutoff(Cutoff)
    }

    private static func word(_ said: Assignment.Word, in statement: Assignment) -> Said {
        switch said.kind {
        case .off: .standing(Word(stamp: statement.stamp, signer: statement.signer, isOn: false))
        case .on: .standing(Word(stamp: statement.stamp, signer: statement.signer, isOn: true))
        case .cutoff(let cutoff):
            .cutoff(Cutoff(stamp: statement.stamp, signer: statement.signer, heads: cutoff.heads))
        }
    }

    private func stands(_ statement: Assignment) -> Bool {
        statement.words.contains { said in
            switch Self.word(said, in: statement) {
            case .standing(let word): words[said.device] == word
            case .cutoff(let cutoff): cutoffs[said.device] == cutoff
            }
        }
    }

    private static func hash(_ device: DeviceID, _ word: Word) -> UInt64 {
        hash(device, word.signer, word.stamp, word.isOn ? 1 : 0, 0)
    }

    private static func hash(_ device: DeviceID, _ cutoff: Cutoff) -> UInt64 {
        hash(device, cutoff.signer, cutoff.stamp, 2, cutoff.heads.fingerprint)
    }

    private static func hash(
        _ device: DeviceID, _ signer: DeviceID, _ stamp: Stamp, _ kind: UInt8, _ heads: UInt64
    ) -> UInt64 {
        var bytes = ByteWriter()
        for part in [device.high, device.low, signer.high, signer.low] { bytes.write(part) }
        for part in [stamp.rawValue, heads] { bytes.write(part) }
        bytes.write(byte: kind)
        return bytes.bytes.withUnsafeBytes { SipHash.hash($0, key: (0x7265_7473_6f72, 0x6d75_7374_6572_0004)) }
    }
}
