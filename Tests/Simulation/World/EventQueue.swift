import CRDT
import Replication

/// What is going to happen, in order of time; of one time in the order in which it was added.
struct EventQueue {
    enum Kind {
        case message(Message, Network.Place)
        case closed(Network.Place)
        case persist(JobID, JournalSegment, from: LinkID)
        /// The mesh hears of an edit that is durable.
        case committed(JobID, JournalSegment)
        case timer
        case dial
        case askServer
        /// When the question went out, by the own elapsed clock, and when the server had it.
        case serverAnswer(sent: Int64, received: Int64)
        /// The job has been quiet: what may be forgotten is.
        case retire
        /// Held changes are to be looked at.
        case due
    }

    struct Event {
        /// Microseconds of true time.
        let time: Int64
        let order: Int
        let device: Int
        /// Of the device when the event was made: a crash in between cancels it.
        let incarnation: Int
        let kind: Kind
    }

    /// A binary heap.
    private var heap: [Event] = []
    private var added = 0

    mutating func add(_ kind: Kind, at time: Int64, device: Int, incarnation: Int) {
        added += 1
        heap.append(Event(time: time, order: added, device: device, incarnation: incarnation, kind: kind))
        var child = heap.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func popFirst(until time: Int64) -> Event? {
        guard let first = heap.first, first.time <= time else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, least) {
                least = child
            }
            guard least != parent else { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (heap[left].time, heap[left].order) < (heap[right].time, heap[right].order)
    }
}
