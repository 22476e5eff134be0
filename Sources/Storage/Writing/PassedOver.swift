package import CRDT
import GRDB
import Synchronization

/// What stands in a journal, signed by its author, and counts for nothing. The journal itself is its author's work, and is kept.
package protocol PassedOver: Sendable {
    /// For logs.
    static var sentence: StaticString { get }
    /// For logs.
    var details: [String: String] { get }
}

/// Requests that their authors have not signed, in whose names they stand.
package struct ForgedRequests: PassedOver, Hashable {
    /// Under which they stand, in the order of the journal; at least one.
    package let tokens: [MutationToken]
    /// Of which something was to be asked.
    package let job: JobID
    /// Where they stand; that journal's author has signed them.
    package let journal: ReplicaID

    package static let sentence: StaticString =
        "a journal has requests to the server that their author has not signed; they do not count"

    package var details: [String: String] {
        [
            "job": "\(job)", "replica": "\(journal)", "requests": "\(tokens.count)",
            "first": tokens.first.map { "\($0)" } ?? "",
        ]
    }
}

/// The word that a job has ended, from a laptop that is not on it.
package struct RefusedEnd: PassedOver, Hashable {
    /// It goes on.
    package let job: JobID
    /// Where that is said.
    package let journal: ReplicaID
    /// Who has said it.
    package let device: DeviceID

    package static let sentence: StaticString =
        "a laptop that is not on a job says that it has ended; the job goes on: find out who has that laptop"

    package var details: [String: String] {
        ["job": "\(job)", "replica": "\(journal)", "device": "\(device.short)"]
    }
}

/// A struct, as `ShownNote`.
struct PassedOverListener: Sendable {
    let tell: @Sendable (any PassedOver) -> Void
}

extension Store {
    /// Has somebody told of what has come in a journal and counts for nothing, once that is durable.
    ///
    /// - Parameter listener: is called on the writer's thread, and must not wait.
    package func whenPassedOver(_ listener: @escaping @Sendable (any PassedOver) -> Void) {
        passedOver.withLock { $0 = PassedOverListener(tell: listener) }
    }
}

extension JobTransaction {
    /// Has the listener told, once the transaction is durable, of requests that count for nothing.
    func tell(of forged: [MutationRequest], in journal: ReplicaID) {
        guard !forged.isEmpty else { return }
        tell(of: ForgedRequests(tokens: forged.map(\.token), job: id, journal: journal))
    }

    /// The same of anything else.
    func tell(of note: some PassedOver) {
        store.commits.effects.add(onCommit: { [store] in store.passedOver.withLock { $0 }?.tell(note) }, onUndo: {})
    }
}
