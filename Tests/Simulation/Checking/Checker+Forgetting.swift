import CRDT
import Inventory
import Storage

/// Rule R10: what is forgotten, everybody had; what was removed stays away; late work is neither lost nor applied.
extension Checker {
    /// A fold that a device has just written: every laptop whose replica is on its roster must hold what is forgotten,
    /// it must be all that there is of items that are removed, and it must be forgotten at once.
    ///
    /// Looks into all stores, as nobody in the world itself can.
    func checkFolds(
        in added: [Reference.Entry], by device: Device, knowing before: Reference, among devices: [Device]
    ) throws {
        for case .fold(let fold) in added.flatMap({ $0.change?.operations ?? [] }) {
            let items = try forgottenItems(of: fold, by: device, knowing: before)
            for other in devices where other.hasJoined {
                let replica = other.store.identity.replica
                // A store that was set back, or copied, has said what it does not know.
                guard other.doubtful != replica else { continue }
                if fold.members.contains(replica) {
                    for journal in fold.journals where !other.reference.reaches(journal) {
                        throw Violation(
                            "R10", "\(device) forgot what device \(other.index) does not hold yet.")
                    }
                }
                try checkLeftovers(of: fold, items, on: other, by: device)
            }
        }
    }

    /// The items that a fold forgets. They are removed, as its author knows, who also knows nothing more of them but what
    /// is late.
    private func forgottenItems(of fold: Fold, by device: Device, knowing before: Reference) throws -> Set<ItemID> {
        var items: Set<ItemID> = []
        for journal in fold.journals {
            for entry in before.journals[journal.replica] ?? [] where journal.names(entry) {
                if let item = entry.change?.item, item != .job { items.insert(item) }
            }
        }
        for item in items.sorted() {
            let named = (before.items[item] ?? []).filter { entry in fold.journals.contains { $0.names(entry) } }
            // Of what is forgotten already another branch may come.
            if !before.gone.contains(item), !named.contains(where: \.isRemoval) {
                throw Violation("R10", "\(device) forgot \(item), and no removal of it.")
            }
        }
        return items
    }

    /// Nobody has anything of a forgotten item that is not forgotten with it, unless it is late: it would come back.
    private func checkLeftovers(of fold: Fold, _ items: Set<ItemID>, on other: Device, by device: Device) throws {
        for item in items.sorted() {
            for entry in other.reference.items[item] ?? []
            where fold.members.contains(entry.replica) && !forkable.contains(entry.replica) {
                guard !fold.journals.contains(where: { $0.names(entry) }), !other.reference.isForgotten(entry),
                    !other.reference.isLate(entry)
                else { continue }
                throw Violation(
                    "R10", "\(device) forgot \(item), of which device \(other.index) holds more.")
            }
        }
    }

    /// What this store has seen removed never shows again.
    func checkZombies(on device: Holder, _ item: ItemID, isShown: Bool) throws {
        guard isShown, device.reference.gone.contains(item) else { return }
        throw Violation("R10", "on \(device), item \(item) was removed and is back.")
    }

    /// Late work is listed until somebody decides, and nothing else is.
    func checkLateWork(of device: Holder) async throws {
        let reference = device.reference
        let listed = try await device.store.lateChanges(of: job)
        let expected = reference.late.filter { $0.first > reference.statements.decided(of: $0.replica) }
        guard Set(listed.map(\.dot)) != Set(expected.map(\.dot)) else { return }
        let names = [listed.map(\.dot), expected.map(\.dot)].map { dots in
            dots.map { "\($0.replica.description.prefix(4)):\($0.sequence)" }.joined(separator: " ")
        }
        throw Violation("R10", "\(device) lists as late \(names[0]), but it is \(names[1]).")
    }

    /// What a store may refuse: what the full disk does not take, and work that could not count.
    func refused(_ error: StoreError, by device: Device) throws {
        switch error.code {
        case .diskFull where device.isDiskFull, .catchingUp: break
        case .removedJob where device.reference.statements.isJobRemoved: break
        default: throw error
        }
    }

    /// A person wanted the late work: all of it is written again. A late item that stood for another itself and is gone
    /// too gets a successor in its turn, which names the item that it stands for, and that one only (rule R2).
    func accepted(_ changes: [Change], as commits: [Commit]) throws {
        // What late work itself removed need not be there afterwards.
        guard !changes.contains(where: { $0.operations.contains(.remove) }) else { return }
        let written = try Set(
            commits.flatMap { try ChangeCodec.decodeAll($0.segment.bytes) }.flatMap(Reference.marks(of:)))
        for change in changes where change.item != .job {
            let former = change.operations.compactMap(\.replacedItem)
            let hasSuccessor = written.contains(change.item.description)
            for mark in Reference.marks(of: change) where !written.contains(mark) {
                if hasSuccessor, former.contains(mark) { continue }
                throw Violation("R10", "\(mark) was late work that a person accepted, and it is lost.")
            }
        }
    }

    func dropped(_ changes: [Change]) {
        for change in changes {
            for mark in Reference.marks(of: change) { acknowledged[mark] = nil }
        }
    }
}

extension CRDT.Operation {
    /// The item that this says to stand for.
    fileprivate var replacedItem: String? {
        guard case .set(WellKnownField.replaces, let item, _) = self else { return nil }
        return item
    }
}

extension Fold.Journal {
    fileprivate func names(_ entry: Reference.Entry) -> Bool {
        entry.replica == replica && runs.contains { $0.span.contains(entry.first) }
    }
}

extension Reference {
    fileprivate func reaches(_ journal: Fold.Journal) -> Bool {
        head(of: journal.replica).sequence >= journal.runs.last?.span.upperBound ?? 0
    }
}
