package import CRDT
import Crypto

extension MutationToken {
    /// How many bits are chance: of a million requests of one laptop two agree once in 500 such laptops.
    private static let chanceBits: UInt128 = 48

    /// Mints the token of a key: 48 bits of chance, by whose first digits people name it, and 80 that follow from the key.
    ///
    /// - Parameter chance: its lower 48 bits count.
    package init(ofKey key: [UInt8], chance: UInt64) {
        let purpose = Array("muster token 1\0".utf8)
        let ofKey = SHA256.hash(data: purpose + key).halves.high >> Self.chanceBits
        self.init(UInt128(chance) << (128 - Self.chanceBits) | ofKey)
    }

    /// Whether only who has this key can use it.
    package func isOf(key: [UInt8]) -> Bool {
        MutationToken(ofKey: key, chance: UInt64(value >> (128 - Self.chanceBits))) == self
    }
}

extension JournalSigner {
    /// Signs a request for a job. Its token has to be this key's.
    ///
    /// - Parameter nonce: that makes the name under which it stands in a journal.
    package func sign(_ request: MutationRequest, for job: JobID, nonce: UInt128) -> MutationRequest {
        var signed = request
        // Key and nonce are signed, too, so they stand there first.
        signed.signature = RequestSignature(key: publicKey, nonce: nonce) ?? .none
        signed.signature.value = signature(over: SignedRequest.content(of: signed, for: job))
        return signed
    }
}

extension MutationRequest {
    /// The name of its author's journals: the signature holds in no other, unless that says it writes it again (rule R9).
    package var authorName: ReplicaID? {
        JournalAuthor(key: signature.key, nonce: signature.nonce)?.name
    }

    /// Whether its author has asked for this, of this job, under a token of their own.
    package func isSigned(for job: JobID) -> Bool {
        guard token.isOf(key: signature.key),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: signature.key)
        else { return false }
        return key.isValidSignature(signature.value, for: SignedRequest.content(of: self, for: job))
    }
}

extension Change {
    /// The requests in it that count for nothing: their author has not signed them, or stands under another name than here.
    ///
    /// - Parameter journal: where the change stands.
    package func forgedRequests(for job: JobID, in journal: ReplicaID) -> [MutationRequest] {
        operations.compactMap { operation in
            guard case .request(let request) = operation else { return nil }
            return request.authorName == origin ?? journal && request.isSigned(for: job) ? nil : request
        }
    }

    /// The rest of it, for people to read.
    package func leavingOut(_ forged: [MutationRequest]) -> Change {
        guard !forged.isEmpty else { return self }
        var rest = self
        rest.operations.removeAll { if case .request(let request) = $0 { forged.contains(request) } else { false } }
        return rest
    }
}

/// What is signed: a purpose, so that it can be taken for nothing else; the job; and everything that is asked for.
enum SignedRequest {
    static let purpose = "muster request 1\0"

    static func content(of request: MutationRequest, for job: JobID) -> [UInt8] {
        var content = ByteWriter(reservingCapacity: 256 + request.payload.count)
        content.append(purpose.utf8)
        content.write(job.text)
        content.append(request.signedFields)
        return content.bytes
    }
}
