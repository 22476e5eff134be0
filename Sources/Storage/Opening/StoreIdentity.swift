package import CRDT

/// Who a store is.
package struct StoreIdentity: Hashable, Sendable {
    /// The laptop's id; a random one in a server's store.
    package let device: DeviceID
    /// The name under which this store writes; the channel's in a server's store.
    package let replica: ReplicaID

    /// Takes two names that stand, or are about to stand, in the store.
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
    /// The machine's own id (machine-id(5)); empty where there is none, and for a server.
    package let machine: String
    /// The file's number in its file system, as text.
    package let file: String

    /// Takes a machine without spaces: what stands before the first one is compared when the store is opened.
    package init(machine: String, file: String) {
        self.machine = machine
        self.file = file
    }

    var text: String { "\(machine) \(file)" }
}
