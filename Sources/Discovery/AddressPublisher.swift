internal import CDNSSD

/// Publishes addresses of one name by avahi's own client: one connection to the system bus and one thread, asleep, for all of them,
/// while there are any.
final class AddressPublisher {
    private let hostName: String
    private let onEnd: @Sendable () -> Void
    private var client: muster_client?
    private var groups: [QueryID: OpaquePointer] = [:]

    /// - Parameter onEnd: called on a thread of avahi's when avahi has gone, and with it all that was published.
    init(hostName: String, onEnd: @escaping @Sendable () -> Void) {
        self.hostName = hostName
        self.onEnd = onEnd
    }

    deinit { withdrawAll() }

    /// What is published, in the order in which it was.
    var published: [QueryID] { groups.keys.sorted() }

    /// The code is one of avahi-common/error.h.
    func publish(_ address: OwnAddress, as id: QueryID) -> Answer {
        var code = open()
        guard code == 0, var client else { return .failed(code: code) }
        let group = muster_publish(
            &client, Int32(bitPattern: address.interface), hostName, address.bytes, address.bytes.count, &code)
        groups[id] = group
        closeWithoutUse()
        return group == nil ? .failed(code: code) : .opened
    }

    /// Returns false if it is not published.
    func withdraw(_ id: QueryID) -> Bool {
        guard var client, let group = groups.removeValue(forKey: id) else { return false }
        muster_withdraw(&client, group)
        closeWithoutUse()
        return true
    }

    func withdrawAll() {
        groups = [:]
        closeWithoutUse()
    }

    // MARK: The connection

    private func open() -> Int32 {
        guard client == nil else { return 0 }
        var opened = muster_client()
        let code = muster_client_open(&opened, Self.onState, Unmanaged.passUnretained(self).toOpaque())
        if code == 0 { client = opened }
        return code
    }

    private func closeWithoutUse() {
        guard groups.isEmpty, var client else { return }
        muster_client_close(&client)
        self.client = nil
    }

    private static let onState: AvahiClientCallback = { _, state, context in
        guard state == AVAHI_CLIENT_FAILURE, let context else { return }
        Unmanaged<AddressPublisher>.fromOpaque(context).takeUnretainedValue().onEnd()
    }
}
