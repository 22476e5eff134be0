/// Puts laptops on a job, or takes them off it: the word of one who may, signed by itself and not as a part of a journal.
///
/// So a laptop can be told whom a job is for before it is told anything of the job, and there is no moment at which it holds
/// some of it and would pass that on to just anybody.
///
///     content = version:1 job:string stamp:8 signer:32 count:varint (device:32 isOn:1)*     ascending by device
package struct Assignment: Hashable, Sendable {
    /// Of one statement.
    package static let mostDevices = 256
    /// Of an Ed25519 signature (RFC 8032).
    package static let signatureBytes = 64
    /// Longer content is not read.
    package static let longestContent = 2 * JobID.longest + mostDevices * 33
    private static let version: UInt8 = 1

    /// Whether a laptop is to be on the job.
    package struct Word: Hashable, Sendable {
        /// The laptop.
        package let device: DeviceID
        /// False takes it off.
        package let isOn: Bool

        /// Takes any device, known or not.
        package init(_ device: DeviceID, isOn: Bool) {
            self.device = device
            self.isOn = isOn
        }
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
            content.write(byte: word.isOn ? 1 : 0)
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
            let flag = try reader.readByte()
            guard flag <= 1 else { throw .unknownKind(flag) }
            if let last = words.last, last.device >= device { throw .disordered }
            words.append(Word(device, isOn: flag == 1))
        }
        guard reader.isAtEnd else { throw .trailingBytes }
        return Parts(job: job, stamp: stamp, signer: signer, words: words)
    }
}

extension ByteWriter {
    /// Appends 32 bytes.
    fileprivate mutating func write(_ device: DeviceID) {
        write(device.high)
        write(device.low)
    }
}

extension ByteReader {
    /// Takes 32 bytes.
    fileprivate mutating func readDevice() throws(CodecError) -> DeviceID {
        DeviceID(high: try readInteger(), low: try readInteger())
    }
}
