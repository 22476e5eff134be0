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
    /// All wishes of one edit are of one job.
    case edit(Int, [PlannedEdit])
    /// Several edits that are asked for at the same moment.
    case editTogether(Int, [[PlannedEdit]])
    /// Many new items, numbered from `first` on.
    case bulk(Int, job: Int, first: Int, count: Int)
    /// Journals of so many other replicas, with a word in each.
    case crowd(Int, job: Int, count: Int)
    /// What the first sends the second backs up, or no longer.
    case congest(Int, Int, isCongested: Bool)
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
    /// A person asks the office for the next state of a job.
    case ask(Int, job: Int)
    /// A customer signs for what this laptop shows, or for something else.
    case signOff(Int, job: Int, isForgery: Bool)
    /// A person gives up the oldest wish that nobody has answered.
    case drop(Int)
    case office(OfficeAction)
    /// From now on stamps what it writes so far in the future; 0 ends it.
    case lie(Int, aheadMilliseconds: UInt64)
    /// The whole job, for good.
    case removeJob(Int, job: Int)
    /// A person deals with late work that is listed.
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
    /// Somebody puts the backup back and lets it serve at once; it is put right when somebody notices.
    case setBackUnawares
    /// Is busy, and says so.
    case fallIll
    case fillDisk, freeDisk
}

package enum Garbage: Int, Hashable, Sendable, CaseIterable {
    case bytes, digest, gap, truncation
}

/// What a person does to one item. `number` is unique in the plan and is part of what is written, unless the text is one
/// that others write, too.
package struct PlannedEdit: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case set(fields: [Int])
        case note
        case remove
    }

    package enum Words: Hashable, Sendable {
        case own
        /// One of few that many write.
        case shared(Int)
        /// One of few that are spelt in several ways, or need escapes.
        case unicode(Int)
    }

    package var job = 0
    /// Less than 0 for the job itself.
    package var item: Int
    package var number: Int
    package var kind: Kind
    package var text = Words.own

    private static let shared = ["Den", "Kitchen", "", "0", "A-100"]
    private static let unicode = [
        "Caf\u{e9}", "Cafe\u{301}", "\"\u{301}", "\\\u{7}\t\r\n", "\u{1F4E6}\u{200D}\u{1F69A}", "\u{2028}a,b;c",
        "\u{FF21}-100",
        "\u{feff}x",
    ]
    private static let numbers = ["1", "2", "10", "", "many", "3"]
    private static let volumes = ["2.5", "10", "0.125", "big", "", "7"]
    private static let categories = ["sofa-3-seat", "carton-small", "piano-upright", "nothing known"]

    /// What is written into a field.
    func text(in field: FieldName) -> String {
        // What is added up is of few kinds.
        switch field {
        case "quantity": return Self.numbers[number % Self.numbers.count]
        case "volumeCubicFeet": return Self.volumes[number % Self.volumes.count]
        case "category": return Self.categories[number % Self.categories.count]
        default: break
        }
        switch text {
        case .own: return "e\(number)"
        case .shared(let index): return Self.shared[index % Self.shared.count]
        case .unicode(let index): return Self.unicode[index % Self.unicode.count]
        }
    }
}

extension Action: CustomStringConvertible {
    package var description: String {
        switch self {
        case .edit(let device, let wishes):
            "device \(device) " + wishes.map(\.description).joined(separator: ", ")
        case .editTogether(let device, let edits):
            "device \(device) at once " + edits.map { "[\($0.map(\.description).joined(separator: ", "))]" }.joined()
        case .bulk(let device, let job, let first, let count):
            "device \(device) imports \(count) items from \(first) on into job \(job)"
        case .crowd(let device, let job, let count): "device \(device) gets \(count) journals of job \(job)"
        case .congest(let first, let second, let isCongested):
            "the way from \(first) to \(second) \(isCongested ? "is full" : "has room")"
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
        case .ask(let device, let job): "device \(device) asks for the next state of job \(job)"
        case .signOff(let device, let job, let isForgery):
            "a customer signs for job \(job) at device \(device)\(isForgery ? ", for other items" : "")"
        case .drop(let device): "device \(device) gives a wish up"
        case .office(let action): "the office: \(action)"
        case .lie(let device, let milliseconds): "device \(device) stamps \(milliseconds) ms ahead"
        case .removeJob(let device, let job): "device \(device) removes job \(job)"
        case .decideLate(let device, let accepts): "device \(device) \(accepts ? "accepts" : "drops") late work"
        case .garble(let device, let other, let garbage): "device \(device) sends \(other) malformed \(garbage)"
        }
    }
}

extension PlannedEdit: CustomStringConvertible {
    package var description: String {
        let place = "\(item < 0 ? "the job itself" : "item \(item)")\(job > 0 ? " of job \(job)" : "")"
        switch kind {
        case .set(let fields):
            let all = item < 0 ? Plan.jobFields : Plan.fields
            let values = fields.map { all[$0 % all.count] }.map { "\($0)=\(text(in: $0).debugDescription)" }
            return "sets \(values.joined(separator: " ")) of \(place)"
        case .note: return "notes \(text(in: "notes").debugDescription) on \(place)"
        case .remove: return "removes \(place)"
        }
    }
}
