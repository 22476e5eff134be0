import CRDT

/// Few enough elements for an array, kept in order; equal ones are one.
struct SortedList<Element: Comparable & Sendable>: Sendable {
    private(set) var elements: [Element] = []

    var first: Element? { elements.first }
    var last: Element? { elements.last }
    var isEmpty: Bool { elements.isEmpty }

    mutating func insert(_ element: Element) {
        let place = index(of: element)
        if place < elements.count, elements[place] == element { return }
        elements.insert(element, at: place)
    }

    mutating func remove(_ element: Element) {
        let place = index(of: element)
        guard place < elements.count, elements[place] == element else { return }
        elements.remove(at: place)
    }

    /// The last one is the cheapest to take.
    mutating func popLast() -> Element? { elements.popLast() }

    /// Where the first element that is not less stands, or would stand.
    private func index(of element: Element) -> Int {
        elements.partitioningIndex { $0 >= element }
    }
}
