/// Puts laptops on a job, takes them off it, or says how far the journals of one count that was revoked: the word of one who may,
/// signed by itself and not as a part of a journal.
///
/// So a laptop can be told whom a job is for before it is told anything of the job, and there is no moment at which it holds
/// some of it and would pass that on to just anybody.
///
///     content = version:1 job:string stamp:8 signer:32 count:varint word*                   ascending by device
///     word    = device:32 0                                                                 off the job
///             | device:32 1                                                                 on it
///             | device:32 2 revocation:string count:varint (replica:16 sequence:varint digest:32)*    its journals count so far
package struct Assignment: Hashable, Sendable {
    /// Of one statement.
    package static let mostDevices = 256
    /// Of an Ed25519 signature (RFC 8032).
    package static let signatureBytes = 64
    /// Longer content is not read.
    package static let longestContent = 2 * JobID.longest + mostDevices * 33
    /// Of one laptop in a cutoff: it takes another name where its store was copied or set back.
    package static let mostJournals = 64
    /// Of a revocation in a cutoff.
    package static let longestRevocation = 4_096
    private static let version: UInt8 = 1

    /// What is said of a laptop.
    package struct Word: Hashable, Sendable {
        /// What is said.
        package enum Kind: Hashable, Sendable {
            case off
            case on
            /// It was revoked: of its journals in this job no more counts than this, and of those that are not named nothing.
            case cutoff(Cutoff)
        }

        /// How far the journals of a laptop count that was revoked.
        package struct Cutoff: Hashable, Sendable {
            /// Signed by an issuer: without it anybody who may assign could make another's work void. Read elsewhere.
            package let revocation: [UInt8]
            /// Of a journal that is not named nothing counts.
            package let heads: VersionVector

            /// Takes any.
            package init(revocation: [UInt8], heads: VersionVector) {
                self.revocation = revocation
                self.heads = heads
            }
        }

        /// The laptop.
        package let device: DeviceID
        package let kind: Kind

        /// Takes any device, known or not.
        package init(_ device: DeviceID, _ kind: Kind) {
            self.device = device
            self.kind = kind
        }

        /// It puts the laptop on the job.
        package var isOn: Bool { kind == .on }
        /// It says who receives the job.
        package var saysWhoReceives: Bool { kind == .on || kind == .off }

        /// Puts it on the job, or takes it off.
        package init(_ device: DeviceID, isOn: Bool) { self.init(device, isOn ? .on : .off) }
    }

    /// The job; nobody has to hold anything of it yet.
    package let job: JobID
    /// The last word about a laptop stands.
    package let stamp: Stamp
    /// Whose word it is.
    package let signer: DeviceID
    /// What is signed.
    package let content: [UInt8]
    /// 64 bytes; whether it is one is asked elsewhere.
    package let signature: [UInt8]
    /// By which the fleet knows the signer's key, in DER: its own and its issuer's.
    package var certificates: [[UInt8]]

    /// Nil for too many words, none, or two about one laptop.
    ///
    /// - Parameter sign: signs the content as the signer.
    package init?(
        of job: JobID, _ words: [Word], stamp: Stamp, signer: DeviceID, certificates: [[UInt8]],
        sign: ([UInt8]) -> [UInt8]
    ) {
        var content = ByteWriter()
        content.write(byte: Self.version)
        content.write(job.text)
        content.write(stamp.rawValue)
        content.write(signer)
        content.write(varint: UInt64(words.count))
        for word in words.sorted(by: { $0.device < $1.device }) {
            content.write(word.device)
            content.write(word.kind)
        }
        try? self.init(content: content.bytes, signature: sign(content.bytes), certificates: certificates)
    }

    /// Reads one that somebody has sent or kept; who has signed it is not looked at.
    package init(content: [UInt8], signature: [UInt8], certificates: [[UInt8]]) throws(CodecError) {
        guard content.count <= Self.longestContent, signature.count == Self.signatureBytes,
            certificates.count <= JournalAuthor.mostCertificates,
            certificates.allSatisfy({ $0.count <= JournalAuthor.longestCertificate })
        else { throw .limitExceeded("an assignment") }
        let head = try Self.parts(of: content)
        (job, stamp, signer) = (head.job, head.stamp, head.signer)
        self.content = content
        self.signature = signature
        self.certificates = certificates
    }

    /// About each laptop that it names, ascending.
    package var words: [Word] {
        // It was read once before.
        (try? Self.parts(of: content).words) ?? []
    }

    private struct Parts {
        let job: JobID
        let stamp: Stamp
        let signer: DeviceID
        let words: [Word]
    }

    private static func parts(of content: [UInt8]) throws(CodecError) -> Parts {
        try content.withUnsafeBytes { buffer in Result { () throws(CodecError) in try read(buffer) } }.get()
    }

    private static func read(_ buffer: UnsafeRawBufferPointer) throws(CodecError) -> Parts {
        var reader = ByteReader(buffer)
        let version = try reader.readByte()
        guard version == Self.version else { throw .unknownKind(version) }
        guard let job = JobID(try reader.readString(atMost: JobID.longest)) else {
            throw .limitExceeded("the id of a job")
        }
        let stamp = Stamp(rawValue: try reader.readInteger())
        guard stamp < .observable else { throw .limitExceeded("the time of an assignment") }
        let signer = try reader.readDevice()
        let count = try reader.readVarint()
        guard count > 0 else { throw .empty }
        guard count <= UInt64(mostDevices) else { throw .limitExceeded("\(count) laptops in an assignment") }
        var words: [Word] = []
        for _ in 0..<count {
            let device = try reader.readDevice()
            if let last = words.last, last.device >= device { throw .disordered }
            words.append(Word(device, try reader.readKind()))
        }
        guard reader.isAtEnd else { throw .trailingBytes }
        return Parts(job: job, stamp: stamp, signer: signer, words: words)
    }
}

extension ByteWriter {
    fileprivate mutating func write(_ kind: Assignment.Word.Kind) {
        switch kind {
        case .off: write(byte: 0)
        case .on: write(byte: 1)
        case .cutoff(let cutoff):
            write(byte: 2)
            write(varint: UInt64(cutoff.revocation.count))
            append(cutoff.revocation)
            StatementCodec.encode(cutoff.heads, into: &self)
        }
    }

    /// Appends 32 bytes.
    fileprivate mutating func write(_ device: DeviceID) {
        write(device.high)
        write(device.low)
    }
}

extension ByteReader {
    fileprivate mutating func readKind() throws(CodecError) -> Assignment.Word.Kind {
        switch try readByte() {
        case 0: .off
        case 1: .on
        case 2: .cutoff(try readCutoff())
        case let kind: throw .unknownKind(kind)
        }
    }

    private mutating func readCutoff() throws(CodecError) -> Assignment.Word.Cutoff {
        let count = try readVarint()
        guard count <= UInt64(Assignment.longestRevocation) else { throw .limitExceeded("a revocation") }
        let range = try readRange(count: Int(count))
        return Assignment.Word.Cutoff(
            revocation: [UInt8](buffer[range]),
            heads: try StatementCodec.decodeHeads(&self, atMost: Assignment.mostJournals))
    }

    /// Takes 32 bytes.
    fileprivate mutating func readDevice() throws(CodecError) -> DeviceID {
        DeviceID(high: try readInteger(), low: try readInteger())
    }
}

extension VersionVector {
    /// As it stands in a cutoff.
    package var encoded: [UInt8] {
        var bytes = ByteWriter()
        StatementCodec.encode(self, into: &bytes)
        return bytes.bytes
    }

    /// Reads what `encoded` has made.
    package init(encoded bytes: [UInt8]) throws(CodecError) {
        self = try bytes.withUnsafeBytes { buffer in
            Result { () throws(CodecError) in
                var reader = ByteReader(buffer)
                let heads = try StatementCodec.decodeHeads(&reader, atMost: Assignment.mostJournals)
                guard reader.isAtEnd else { throw .trailingBytes }
                return heads
            }
        }.get()
    }
}
