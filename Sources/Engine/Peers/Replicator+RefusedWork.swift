import Authorship
package import CRDT
import Logging
import Replication
import Storage

/// Work that was not taken in, and what of it people should know.
package struct RefusedWork: Hashable, Sendable {
    /// Why it was refused.
    package enum Cause: Hashable, Sendable {
        /// Whoever passed it on has altered it, or made it up: its author has not signed it.
        case unsigned
        /// Its author is nobody of the fleet.
        case unvouched
        /// It is said to be the server's, and the fleet has let in no such server.
        case otherServer
    }

    /// Why it was refused.
    package let cause: Cause
    /// Who passed it on, nil for the server; of the others, who wrote it.
    package let device: DeviceID?
    /// What people call that laptop; empty where that is not known.
    package let name: String
    /// How often since the daemon started.
    package var count = 1
    /// When it was last, in milliseconds since 1970.
    package var last: UInt64

    /// Takes a name of any length.
    package init(_ cause: Cause, device: DeviceID?, name: String, count: Int = 1, last: UInt64) {
        self.cause = cause
        self.device = device
        self.name = name
        self.count = count
        self.last = last
    }
}

/// Remembers such work by the laptop and the cause.
struct RefusedWorkLog: Sendable {
    private struct Key: Hashable {
        let cause: RefusedWork.Cause
        let device: DeviceID?
    }

    /// More laptops are not remembered one by one.
    private static let most = 64

    private var entries: [Key: RefusedWork] = [:]

    var all: [RefusedWork] { entries.values.sorted { ($0.name, $0.last) < ($1.name, $1.last) } }

    /// - Returns: whether it is the first of its kind.
    mutating func note(_ cause: RefusedWork.Cause, of device: DeviceID?, name: String, now: UInt64) -> Bool {
        let key = Key(cause: cause, device: device)
        if entries[key] != nil {
            entries[key]?.count += 1
            entries[key]?.last = now
            return false
        }
        guard entries.values.count(where: { $0.cause == cause }) < Self.most else { return false }
        entries[key] = RefusedWork(cause, device: device, name: name, last: now)
        return true
    }

    mutating func forget(_ cause: RefusedWork.Cause, of device: DeviceID) {
        entries[Key(cause: cause, device: device)] = nil
    }
}

/// Who passed such work on, for people: a laptop that alters what it relays has been taken over.
extension Replicator {
    /// Since the daemon started, by laptop.
    package var refusedWork: [RefusedWork] { refused.all }

    /// - Parameter link: nil for the server.
    func noteForgery(by link: LinkID?, _ reason: String, of job: JobID) {
        // Whoever has gone in the meantime is named all the same.
        let peer = link.flatMap { remotes[$0]?.peer ?? departed[$0] }
        logger.error(
            "work is refused that its author has not signed",
            metadata: [
                "job": "\(job)", "from": "\(link == nil ? "the server" : peer?.name ?? "")",
                "device": "\(peer?.device.short ?? "")", "reason": "\(reason)",
            ])
        guard link == nil || peer != nil else { return }
        _ = refused.note(.unsigned, of: peer?.device, name: peer?.name ?? "", now: receiveTime.milliseconds)
    }

    func noteUnvouched(_ author: JournalAuthor) {
        guard refused.note(cause(author), of: author.device, name: "", now: receiveTime.milliseconds) else { return }
        logger.warning(
            author.isServer
                ? "the server's word is not taken: the fleet has let in no server of this key"
                : "a journal is not taken: nobody whom the fleet lets write has written it",
            metadata: ["replica": "\(author.replica)", "device": "\(author.device.short)"])
    }

    /// The fleet has let in who was nobody of it before: nothing is left to do.
    func noteVouched(_ author: JournalAuthor) { refused.forget(cause(author), of: author.device) }

    private func cause(_ author: JournalAuthor) -> RefusedWork.Cause { author.isServer ? .otherServer : .unvouched }
}
