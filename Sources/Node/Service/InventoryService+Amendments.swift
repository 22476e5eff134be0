import CRDT
import HTTPCoding
import Inventory
import LocalAPI
import Outbox
import Storage

/// What was changed since the customer signed.
extension InventoryService {
    func amendments(job text: String) async throws -> AmendmentReport {
        try await answering {
            let job = try await resolve(job: text)
            let overlay = try await overlay(of: job.id)
            guard let signature = Signature(overlay) else {
                return AmendmentReport(signature: nil, standing: .unsigned)
            }
            guard !job.isRemoved else { return AmendmentReport(signature: signature, standing: .removedJob) }
            guard let vector = overlay.signedVector else {
                let isAsSigned = try await store.digest(of: job.id).text == signature.digest
                return AmendmentReport(signature: signature, standing: isAsSigned ? .asSigned : .noVector)
            }
            switch try await store.amendments(of: job.id, since: vector, digest: signature.digest) {
            case .held(let amendments):
                let authors = Authors(job: job, sessions: try await store.workSessions(of: job.id))
                return AmendmentReport(
                    signature: signature, standing: amendments.isEmpty ? .asSigned : .amended,
                    items: amendments.map { AmendedItem($0, by: authors) })
            case .notHeldYet: return AmendmentReport(signature: signature, standing: .notHeldYet)
            case .anotherInventory: return AmendmentReport(signature: signature, standing: .anotherInventory)
            case .removedJob: return AmendmentReport(signature: signature, standing: .removedJob)
            }
        }
    }
}

/// Writing to a job that was signed for, or is over.
extension InventoryService {
    /// What was written to, where it shows as an amendment. Costs those who write to any other job nothing.
    ///
    /// It is written then, whether or not that can be found out.
    func amendedJob(_ job: JobID, _ written: EditResult) async -> AmendedJob? {
        written.mayAmend ? try? await amendedJob(job) : nil
    }

    /// Nil where the job is neither over nor signed for.
    func amendedJob(_ job: JobID) async throws -> AmendedJob? {
        let overlay = try await overlay(of: job)
        let (state, signature) = (overlay.shown.state.flatMap { $0.isFinal ? $0 : nil }, Signature(overlay))
        guard state != nil || signature != nil else { return nil }
        var signedAt: Timestamp?
        if let signature { signedAt = try await signatureStamp(signature, job)?.timestamp }
        return AmendedJob(state: state?.rawValue, signedBy: signature?.name, signedAt: signedAt)
    }

    /// When somebody asked for a signature first.
    private func signatureStamp(_ signature: Signature, _ job: JobID) async throws -> Stamp? {
        try await store.requests(of: job, kind: SignOff.name).first { asked in
            let payload = FlatJSON(parsing: asked.request.payload)
            return payload?["name"] == signature.name && payload?["digest"] == signature.digest
        }?.write.stamp
    }
}

extension AmendedItem {
    fileprivate init(_ amendment: Amendment, by authors: Authors) {
        self.init(
            item: amendment.item.description, itemName: amendment.present.label, kind: Kind(amendment.kind),
            fields: amendment.fields.map {
                AmendedField(field: $0.name.text, signed: $0.signed, present: authors.written($0.present))
            },
            notes: amendment.notes.map(\.text), at: amendment.write.stamp.timestamp,
            by: amendment.write.author.description,
            byName: authors.hostName(of: amendment.write), person: authors.sessions.person(of: amendment.write))
    }
}

extension AmendedItem.Kind {
    fileprivate init(_ kind: Amendment.Kind) {
        switch kind {
        case .added: self = .added
        case .removed: self = .removed
        case .changed: self = .changed
        case .addedAndRemoved: self = .addedAndRemoved
        case .uncounted: self = .uncounted
        }
    }
}

extension Overlay {
    /// Where the journals ended that the newest signature is for; nil where it does not say.
    fileprivate var signedVector: SignedVector? {
        shown[.signature].flatMap { FlatJSON(parsing: Array($0.utf8))?["vector"] }.flatMap { SignedVector($0) }
    }
}
