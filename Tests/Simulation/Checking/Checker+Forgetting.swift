import CRDT
import Storage

/// Rule R10: what is forgotten, everybody had; what was removed stays away; late work is neither lost nor applied.
extension Checker {
    /// A fold that a device has just written: every laptop whose replica is on its roster must hold what is forgotten.
    ///
    /// Looks into all stores, as nobody in the world itself can.
    func checkFolds(in added: [Reference.Entry], by device: Device, among devices: [Device]) throws {
        for case .fold(let fold) in added.flatMap({ $0.change?.operations ?? [] }) {
            for other in devices where other.hasJoined {
                let replica = other.store.identity.replica
                // A store that was set back has said what it no longer knows.
                guard fold.members.contains(replica), !forkable.contains(replica) else { continue }
                for journal in fold.journals {
                    let end = journal.runs.last?.upperBound ?? 0
                    if other.reference.head(of: journal.replica).sequence < end {
                        throw Violation(
                            "R10", "device \(device.index) forgot what device \(other.index) does not hold yet.")
                    }
                }
            }
        }
    }

    /// What this store has seen removed never shows again.
    func checkZombies(on device: Device, _ item: ItemID, isShown: Bool) throws {
        guard isShown, device.reference.gone.contains(item) else { return }
        throw Violation("R10", "on device \(device.index), item \(item) was removed and is back.")
    }

    /// Late work is listed until somebody decides, and nothing else is.
    func checkLateWork(of device: Device) async throws {
        let reference = device.reference
        let listed = try await device.store.lateChanges(of: job)
        let expected = reference.late.filter { $0.first > reference.statements.decided(of: $0.replica) }
        guard Set(listed.map(\.dot)) != Set(expected.map(\.dot)) else { return }
        let names = [listed.map(\.dot), expected.map(\.dot)].map { dots in
            dots.map { "\($0.replica.description.prefix(4)):\($0.sequence)" }.joined(separator: " ")
        }
        throw Violation("R10", "device \(device.index) lists as late \(names[0]), but it is \(names[1]).")
    }

    func dropped(_ changes: [Change]) {
        for change in changes {
            for mark in Reference.marks(of: change) { acknowledged[mark] = nil }
        }
    }
}
