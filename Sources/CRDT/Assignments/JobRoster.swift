/// Who was put on a job and who was taken off it: the last word about each laptop, and the statements in which they stand.
///
/// A pure function of the set of statements: order and repetition do not matter. Only statements of those who may assign
/// are to be taken in.
package struct JobRoster: Hashable, Sendable {
    /// About more laptops no words are taken: a signer that names them without end fills no memory.
    package static let mostDevices = 4_096

    private struct Word: Hashable, Sendable {
        let stamp: Stamp
        let signer: DeviceID
        let isOn: Bool

        /// Of two words of one signer at one time the stricter one: a copied disk may have written both.
        static func < (one: Word, other: Word) -> Bool {
            (one.stamp, one.signer, one.isOn ? 0 : 1) < (other.stamp, other.signer, other.isOn ? 0 : 1)
        }
    }

    private var words: [DeviceID: Word] = [:]
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

    /// Those that are on it, ascending; nobody where it is everybody's.
    package var devices: [DeviceID] { words.filter(\.value.isOn).keys.sorted() }

    /// Those of which a word stands, ascending.
    package var named: [DeviceID] { words.keys.sorted() }

    /// A stamp later than all words, so that a clock that is behind does not make the next one void.
    package func nextStamp(now milliseconds: UInt64) -> Stamp {
        let last = words.values.map(\.stamp).max() ?? .zero
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
        var isNews = false
        for said in statement.words {
            let word = Word(stamp: statement.stamp, signer: statement.signer, isOn: said.isOn)
            let known = words[said.device]
            guard known.map({ $0 < word }) ?? (words.count < Self.mostDevices) else { continue }
            words[said.device] = word
            // A sum does not mind the order in which they came.
            fingerprint = fingerprint &+ Self.hash(said.device, word) &- (known.map { Self.hash(said.device, $0) } ?? 0)
            isNews = true
        }
        guard isNews else { return false }
        statements = (statements + [statement]).filter(stands)
        return true
    }

    private func stands(_ statement: Assignment) -> Bool {
        statement.words.contains { said in
            words[said.device] == Word(stamp: statement.stamp, signer: statement.signer, isOn: said.isOn)
        }
    }

    private static func hash(_ device: DeviceID, _ word: Word) -> UInt64 {
        var bytes = ByteWriter()
        for part in [device.high, device.low, word.signer.high, word.signer.low] { bytes.write(part) }
        bytes.write(word.stamp.rawValue)
        bytes.write(byte: word.isOn ? 1 : 0)
        return bytes.bytes.withUnsafeBytes { SipHash.hash($0, key: (0x7265_7473_6f72, 0x6d75_7374_6572_0004)) }
    }
}
