import Dispatch

#if canImport(Glibc)
    import Glibc
#endif

/// Calls back, on a queue of its own, whenever a descriptor has something to read.
final class DescriptorEvents: @unchecked Sendable {
    /// Where it calls back.
    let queue: DispatchQueue
    // Dispatch's own calls may come from any thread.
    private let source: any DispatchSourceRead

    /// - Parameter descriptor: closed once this is cancelled.
    init(_ descriptor: Int32, label: String) {
        queue = DispatchQueue(label: label)
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setCancelHandler { close(descriptor) }
    }

    /// To be called once.
    func start(_ handler: @escaping @Sendable () -> Void) {
        source.setEventHandler(handler: handler)
        source.resume()
    }

    func cancel() { source.cancel() }
}
