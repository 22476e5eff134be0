import CRDT
import Engine
import Inventory
import LocalAPI
import Outbox
import Storage

/// Who signs for the inventory.
extension InventoryService {
    func signOff(_ request: SignOffRequest, job text: String) async throws -> QueuedSignature {
        try await answering {
            let name = try FieldText.entered(request.name, as: .key, called: "The name")
            guard (1...1_024).contains(name.utf8.count) else {
                throw APIError(.invalidValue, "A signature needs a name of 1 to 1,024 bytes; give one with --name.")
            }
            let job = try await resolve(job: text).id
            let inventory = try await store.digest(of: job)
            let digest = inventory.text
            // Somebody may have changed the inventory since it was shown.
            if let shown = request.digest, shown.lowercased() != digest {
                throw APIError(
                    .invalidValue,
                    "The inventory is not the one with digest \(shown) any more; show 'muster job summary' again.")
            }
            guard let vector = SignedVector(inventory.vector) else {
                throw APIError(
                    .invalidValue,
                    "More than \(SignedVector.longest) laptops have written here, more than a signature can name; "
                        + "sign for its items in a new job.")
            }
            var generator = machine.generator
            var batch = MutationBatch(job: job)
            batch.add(SignOff(digest: digest, name: name, vector: vector), using: &generator)
            return QueuedSignature(tokens: try await ask(batch).map(\.description), digest: digest)
        }
    }
}

extension Signature {
    /// Nil where nobody has signed.
    init?(_ overlay: Overlay) {
        guard let text = overlay.shown[.signature], let signed = FlatJSON(parsing: Array(text.utf8)),
            let name = signed["name"], let digest = signed["digest"]
        else { return nil }
        self.init(
            name: name, digest: digest, serverDigest: signed["serverDigest"],
            isPending: overlay.pending[.signature] != nil)
    }
}
