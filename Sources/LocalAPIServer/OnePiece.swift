import Synchronization

/// Elements that are handed out once, all of them.
final class OnePiece<Element: Sendable>: Sendable {
    private let elements: Mutex<[Element]?>

    init(_ elements: [Element]) {
        self.elements = Mutex(elements.isEmpty ? nil : elements)
    }

    func take() -> [Element]? {
        elements.withLock { elements in
            defer { elements = nil }
            return elements
        }
    }
}
