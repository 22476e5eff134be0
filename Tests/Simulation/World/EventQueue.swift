import CRDT
import Outbox
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
        /// A step of freeing what went with removed jobs.
        case free
        /// The way to a peer is full, or has room again.
        case congestion(LinkID, Bool)
        /// Of no laptop: `device` is 0 and means nothing.
        case office(OfficeEvent)
        case officeAnswer(OfficeCall.Purpose, JobID, OfficeAnswer, life: Int)
        case outboxPersisted(OutboxMachine.ExchangeNumber, isDurable: Bool)
        case outboxTimer
        case lookAtRequests(JobID)
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

    private struct Key {
        let time: Int64
        let order: Int
    }

    /// A binary heap of keys alone: to move whole events about took a fifth of a run.
    private var heap: [Key] = []
    private var events: [Int: Event] = [:]
    private var added = 0

    mutating func add(_ kind: Kind, at time: Int64, device: Int, incarnation: Int) {
        added += 1
        insert(Event(time: time, order: added, device: device, incarnation: incarnation, kind: kind))
    }

    /// Adds an event again whose device sleeps. It keeps its place: a connection delivers in order also to who falls asleep twice.
    mutating func postpone(_ event: Event, to time: Int64) {
        insert(
            Event(
                time: time, order: event.order, device: event.device, incarnation: event.incarnation, kind: event.kind))
    }

    private mutating func insert(_ event: Event) {
        events[event.order] = event
        heap.append(Key(time: event.time, order: event.order))
        var child = heap.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func popFirst(until time: Int64) -> Event? {
        guard let first = heap.first, first.time <= time else { return nil }
        defer { events[first.order] = nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            let child = 2 * parent + 1
            if child < heap.count, isBefore(child, least) { least = child }
            if child + 1 < heap.count, isBefore(child + 1, least) { least = child + 1 }
            guard least != parent else { return events[first.order] }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (heap[left].time, heap[left].order) < (heap[right].time, heap[right].order)
    }
}
