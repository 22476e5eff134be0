import CRDT

/// What happens in a run apart from the passing of time, and how long after the step before it.
///
/// A step that cannot be done where it comes (a crash of a laptop that is off) is skipped: so any part of a history is a
/// history too, which is what shrinking needs.
package struct Step: Hashable, Sendable, CustomStringConvertible {
    /// Milliseconds after the step before.
    package var wait: UInt64
    package var action: Action

    package var description: String { "+\(wait) ms  \(action)" }
}

/// Devices are named by their place in the world, items by a number of the plan.
package enum Action: Hashable, Sendable {
    case edit(Int, [Wish])
    /// No message gets from the first to the second, nor back unless it is one way; `breaks` also closes their
    /// connection at once, else it hangs as TCP does.
    case cut(Int, Int, isOneWay: Bool, breaks: Bool)
    case heal(Int, Int)
    case breakConnection(Int, Int)
    /// Everything that is not durable is gone.
    case crash(Int)
    case start(Int, reboots: Bool)
    case fillDisk(Int)
    case freeDisk(Int)
    case backUp(Int)
    /// Puts the backup back; a store on a new file can tell, one whose content was replaced in place cannot.
    case restore(Int, isNewFile: Bool)
    /// The laptop that has not joined yet gets a copy of the other's disk; `isNoticed` on another machine.
    case clone(Int, to: Int, isNoticed: Bool)
    case join(Int)
    case sleep(Int, milliseconds: UInt64)
    /// Everybody sleeps, for days.
    case everybodySleeps(milliseconds: UInt64)
    /// Off until it comes back.
    case leave(Int)
    case comeBack(Int)
    case setWallClock(Int, byMilliseconds: Int64)
    case reachServer(Int, Bool)
    /// The server orders something: an entry of the channel.
    case serverEntry
    /// A person asks the office for the next state of the job.
    case ask(Int)
    /// A person gives up the oldest wish that nobody has answered.
    case drop(Int)
    case office(OfficeAction)
    /// From now on stamps what it writes so far in the future; 0 ends it.
    case lie(Int, aheadMilliseconds: UInt64)
    /// Takes the replica of another device off the roster, as lost.
    case expel(Int, other: Int)
    /// The whole job, for good.
    case removeJob(Int)
    /// A person deals with all late work that is listed.
    case decideLate(Int, accepts: Bool)
    /// The first sends the second something malformed.
    case garble(Int, to: Int, Garbage)
}

package enum OfficeAction: String, Hashable, Sendable {
    /// For some seconds; what is not durable is gone.
    case stop
    case backUp
    /// Its people put the backup back, and let it take its own words from the laptops.
    case setBack
    /// Is busy, and says so.
    case fallIll
    case fillDisk, freeDisk
}

package enum Garbage: Int, Hashable, Sendable, CaseIterable {
    case bytes, digest, gap, truncation
}

/// What a person does to one item. `number` is unique in the plan and becomes part of the value: so every edit can be
/// found again.
package struct Wish: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case set(fields: [Int])
        case note
        case remove
    }

    package var item: Int
    package var number: Int
    package var kind: Kind

    /// What is written, by which the edit is found again; a removal is found by its item.
    package var mark: String { "e\(number)" }
}

extension Action: CustomStringConvertible {
    package var description: String {
        switch self {
        case .edit(let device, let wishes):
            "device \(device) " + wishes.map(\.description).joined(separator: ", ")
        case .cut(let first, let second, let isOneWay, let breaks):
            "cut \(first) \(isOneWay ? "→" : "↔") \(second)\(breaks ? ", connection broken" : "")"
        case .heal(let first, let second): "heal \(first) ↔ \(second)"
        case .breakConnection(let first, let second): "break the connection of \(first) and \(second)"
        case .crash(let device): "device \(device) crashes"
        case .start(let device, let reboots): "device \(device) starts\(reboots ? " after a reboot" : "")"
        case .fillDisk(let device): "the disk of device \(device) is full"
        case .freeDisk(let device): "the disk of device \(device) has room again"
        case .backUp(let device): "device \(device) is backed up"
        case .restore(let device, let isNewFile):
            "device \(device) is restored \(isNewFile ? "as a new file" : "in place")"
        case .clone(let device, let copy, let isNoticed):
            "device \(copy) joins with a copy of the disk of \(device), \(isNoticed ? "" : "not ")noticed"
        case .join(let device): "device \(device) joins"
        case .sleep(let device, let milliseconds): "device \(device) sleeps for \(milliseconds) ms"
        case .everybodySleeps(let milliseconds): "everybody sleeps for \(milliseconds / 3_600_000) h"
        case .leave(let device): "device \(device) leaves"
        case .comeBack(let device): "device \(device) comes back"
        case .setWallClock(let device, let milliseconds): "the wall clock of device \(device) jumps \(milliseconds) ms"
        case .reachServer(let device, let reaches): "device \(device) \(reaches ? "reaches" : "loses") the server"
        case .serverEntry: "the server orders an entry"
        case .ask(let device): "device \(device) asks for the next state"
        case .drop(let device): "device \(device) gives a wish up"
        case .office(let action): "the office: \(action)"
        case .lie(let device, let milliseconds): "device \(device) stamps \(milliseconds) ms ahead"
        case .expel(let device, let other): "device \(device) takes device \(other) off the roster"
        case .removeJob(let device): "device \(device) removes the job"
        case .decideLate(let device, let accepts): "device \(device) \(accepts ? "accepts" : "drops") late work"
        case .garble(let device, let other, let garbage): "device \(device) sends \(other) malformed \(garbage)"
        }
    }
}

extension Wish: CustomStringConvertible {
    package var description: String {
        switch kind {
        case .set(let fields):
            "sets \(fields.map { Plan.fields[$0].text }.joined(separator: "+")) of item \(item) to \(mark)"
        case .note: "notes \(mark) on item \(item)"
        case .remove: "removes item \(item)"
        }
    }
}
