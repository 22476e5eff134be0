import CRDT
import Replication

extension WireHello {
    init(_ hello: Hello) throws {
        try hello.checkVersions()
        minimumVersion = hello.minimumVersion
        maximumVersion = hello.maximumVersion
        device = hello.device.wire
        instance = hello.instance
        name = try hello.name.checked(.name)
        revocations = hello.revocations
    }

    func hello() throws -> Hello {
        let hello = Hello(
            minimumVersion: minimumVersion, maximumVersion: maximumVersion, device: try DeviceID(wire: device),
            instance: instance, name: try name.checked(.name), revocations: revocations)
        try hello.checkVersions()
        return hello
    }
}

extension Hello {
    fileprivate func checkVersions() throws {
        guard 1 <= minimumVersion, minimumVersion <= maximumVersion else {
            throw WireFormatError.versions(minimum: minimumVersion, maximum: maximumVersion)
        }
    }
}
