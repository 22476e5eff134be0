/// Things to be done, each once, in the order in which they were added. Each operation is constant work on average.
struct WorkQueue<Element: Hashable & Sendable>: Sendable {
    /// From `head` on. What was removed, or moved to the front, still stands here, and is passed over.
    private var elements: [Element] = []
    private var head = 0
    private var members: Set<Element> = []

    var count: Int { members.count }
    var isEmpty: Bool { members.isEmpty }

    func contains(_ element: Element) -> Bool { members.contains(element) }

    mutating func append(_ element: Element) {
        guard members.insert(element).inserted else { return }
        elements.append(element)
        compact()
    }

    /// Puts it first, wherever it was.
    mutating func prepend(_ element: Element) {
        members.insert(element)
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            // Room in front for as many again, so that one insertion pays for the next ones.
            let room = elements.count + 8
            elements.insert(contentsOf: repeatElement(element, count: room), at: 0)
            head = room - 1
        }
        compact()
    }

    mutating func popFirst() -> Element? {
        while head < elements.count {
            let element = elements[head]
            head += 1
            if members.remove(element) != nil {
                compact()
                return element
            }
        }
        elements = []
        head = 0
        return nil
    }

    mutating func remove(_ element: Element) {
        members.remove(element)
        compact()
    }

    /// Gives room back when most of it is of no use.
    private mutating func compact() {
        guard elements.count > 4 * members.count + 64 else { return }
        var seen: Set<Element> = []
        elements = elements[head...].filter { members.contains($0) && seen.insert($0).inserted }
        head = 0
    }
}
