package import CRDT

/// Who a store is.
package struct StoreIdentity: Hashable, Sendable {
    package let device: DeviceID
    package let replica: ReplicaID

    package init(device: DeviceID, replica: ReplicaID) {
        self.device = device
        self.replica = replica
    }
}

/// What a store is for.
package enum StoreRole: String, Sendable {
    /// A device's: its replica is its own.
    case laptop
    /// The server's: its replica is the channel, for ever.
    case channel
}

/// Where a store lies: the machine and the file. A copy lies elsewhere, and so tells itself from the original.
package struct StorePlace: Hashable, Sendable {
    package let machine: String
    package let file: String

    package init(machine: String, file: String) {
        self.machine = machine
        self.file = file
    }

    var text: String { "\(machine) \(file)" }
}
