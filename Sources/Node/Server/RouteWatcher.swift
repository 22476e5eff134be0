import Dispatch
import Logging
import ServerChannel

#if canImport(Glibc)
    import Glibc
#endif

/// Hears from the kernel when an address of this machine or a way out of it appears or goes (netlink).
///
/// Where there is no such socket, as in a sandbox without AF_NETLINK, it says so once and supposes a way.
final class RouteWatcher: Sendable {
    private static let family: Int32 = 16
    /// Links, addresses and routes of both families (RTMGRP_*).
    private static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
    private static let datagramBytes = 1 << 16

    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// Tables, the first at once and another after each change; a single nil where nothing can be watched.
    func tables() -> AsyncStream<RouteTable?> {
        let (stream, continuation) = AsyncStream<RouteTable?>.makeStream(bufferingPolicy: .bufferingNewest(1))
        guard let descriptor = open() else {
            continuation.yield(nil)
            return stream
        }
        let events = DescriptorEvents(descriptor, label: "muster.routes")
        let watch = Watch(descriptor: descriptor, queue: events.queue, continuation: continuation)
        continuation.onTermination = { _ in events.cancel() }
        events.start { watch.read() }
        events.queue.async { watch.ask() }
        return stream
    }

    private func open() -> Int32? {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(Self.family, type, 0)
        // struct sockaddr_nl: family, padding, process (the kernel chooses), groups.
        let address: [UInt32] = [UInt32(Self.family), 0, Self.groups]
        let isBound =
            descriptor >= 0
            && address.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return false }
                return bind(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
            }
        guard isBound else {
            let reason = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            logger.notice(
                "the network cannot be watched: the server is asked at its interval, other laptops do not hear of a new address",
                metadata: ["reason": "\(reason)"])
            return nil
        }
        return descriptor
    }

    /// Only touched on its queue.
    private final class Watch: @unchecked Sendable {
        private let descriptor: Int32
        private let queue: DispatchQueue
        private let continuation: AsyncStream<RouteTable?>.Continuation
        private var number: UInt32 = 0
        private var table = RouteTable()
        private var mustAskAgain = false
        private var isAsking = false

        init(descriptor: Int32, queue: DispatchQueue, continuation: AsyncStream<RouteTable?>.Continuation) {
            self.descriptor = descriptor
            self.queue = queue
            self.continuation = continuation
        }

        func ask() {
            guard !isAsking else {
                mustAskAgain = true
                return
            }
            isAsking = true
            mustAskAgain = false
            number += 1
            table = RouteTable()
            let request = NetlinkReader(asked: number).request
            if send(descriptor, request, request.count, 0) < 0 { restart() }
        }

        func read() {
            var buffer = [UInt8](repeating: 0, count: RouteWatcher.datagramBytes)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                if count < 0, errno == EINTR { continue }
                // So much has changed that the kernel lost some of it: the table is asked for anew.
                if count < 0, errno == ENOBUFS { return restart() }
                guard count > 0 else { return }
                for event in NetlinkReader(asked: number).events(in: Array(buffer[..<count])) { handle(event) }
            }
        }

        private func handle(_ event: NetlinkReader.Event) {
            switch event {
            case .route(let route): table.routes.insert(route)
            case .changed: askSoon()
            case .done:
                isAsking = false
                continuation.yield(table)
                if mustAskAgain { askSoon() }
            case .failed: restart()
            }
        }

        private func restart() {
            isAsking = false
            askSoon()
        }

        /// Changes come in flocks.
        private func askSoon() {
            mustAskAgain = true
            queue.asyncAfter(deadline: .now() + .milliseconds(100)) { [self] in if mustAskAgain { ask() } }
        }
    }
}
