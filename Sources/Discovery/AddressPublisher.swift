internal import CDNSSD
import Dispatch

/// Publishes addresses of one name by avahi's own client: one connection to the system bus and one thread, asleep, for all of them,
/// while there are any.
///
/// On a queue of its own, and nobody waits for it: an avahi that stands still holds each call for the bus' 25 seconds.
final class AddressPublisher: @unchecked Sendable {
    private let hostName: String
    private let onEnd: @Sendable () -> Void
    private let queue = DispatchQueue(label: "muster.discovery.addresses")
    // Only touched on the queue.
    private var client: muster_client?
    private var groups: [QueryID: OpaquePointer] = [:]

    /// - Parameter onEnd: called on a thread of avahi's when avahi has gone, and with it all that was published. Not after `withdrawAll`.
    init(hostName: String, onEnd: @escaping @Sendable () -> Void) {
        self.hostName = hostName
        self.onEnd = onEnd
    }

    /// - Parameter answer: called on the publisher's queue, with a code of avahi-common/error.h where avahi refuses.
    func publish(_ address: OwnAddress, as id: QueryID, answer: @escaping @Sendable (Answer) -> Void) {
        queue.async { answer(self.add(address, as: id)) }
    }

    /// Nothing happens where it is not published.
    func withdraw(_ id: QueryID) {
        queue.async { self.remove([id]) }
    }

    /// - Parameter done: called on the publisher's queue.
    func withdrawAll(_ done: @escaping @Sendable () -> Void) {
        queue.async {
            self.remove(Array(self.groups.keys))
            done()
        }
    }

    // MARK: On the queue

    private func add(_ address: OwnAddress, as id: QueryID) -> Answer {
        var code = open()
        guard code == 0, var client else { return .failed(code: code) }
        let group = muster_publish(
            &client, Int32(bitPattern: address.interface), hostName, address.bytes, address.bytes.count, &code)
        groups[id] = group
        closeWithoutUse()
        return group == nil ? .failed(code: code) : .opened
    }

    private func remove(_ ids: [QueryID]) {
        guard var client else { return }
        // With its last group the connection goes, which takes back all that is in it.
        for id in ids {
            guard let group = groups.removeValue(forKey: id), !groups.isEmpty else { continue }
            muster_withdraw(&client, group)
        }
        closeWithoutUse()
    }

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
