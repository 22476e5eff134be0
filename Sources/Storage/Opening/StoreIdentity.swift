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
