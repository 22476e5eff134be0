import CRDT

/// Journals that links outside the tree have announced and the tree has not brought yet.
struct Grafts: Sendable {
    struct Graft: Sendable {
        let link: LinkID
        let due: UInt64
    }

    private var grafts: [JournalName: Graft] = [:]
    /// As they fall due: all wait equally long. Those that were fulfilled still stand here.
    private var order: [(due: UInt64, name: JournalName)] = []
    private var head = 0

    subscript(name: JournalName) -> Graft? { grafts[name] }

    /// Not later than the next one that falls due.
    var nextDue: UInt64? { head < order.count ? order[head].due : nil }

    mutating func add(_ name: JournalName, from link: LinkID, due: UInt64) {
        grafts[name] = Graft(link: link, due: due)
        order.append((due, name))
    }

    mutating func remove(_ name: JournalName) {
        grafts[name] = nil
        if grafts.isEmpty {
            order = []
            head = 0
        }
    }

    /// Takes those out that are due.
    mutating func removeDue(now: UInt64) -> [(name: JournalName, graft: Graft)] {
        var due: [(JournalName, Graft)] = []
        while head < order.count, order[head].due <= now {
            let name = order[head].name
            head += 1
            guard let graft = grafts[name], graft.due <= now else { continue }
            grafts[name] = nil
            due.append((name, graft))
        }
        if head > 64, head * 2 > order.count {
            order.removeFirst(head)
            head = 0
        }
        return due
    }

    mutating func remove(of job: JobID) {
        for name in grafts.keys where name.job == job { grafts[name] = nil }
    }

    /// Takes those of a link out that is gone.
    mutating func removeAll(of link: LinkID) -> [JournalName] {
        let names = grafts.filter { $0.value.link == link }.keys.sorted()
        for name in names { remove(name) }
        return names
    }
}
