import Foundation
import Testing

@testable import Checkup

/// Avahi as a directory shows it: a socket, a unit file, a program.
@Suite(.timeLimit(.minutes(1)))
final class AvahiProbeTests {
    private let directory =
        NSTemporaryDirectory() + "muster-avahi-\(getpid())-\(Int(bitPattern: ObjectIdentifier(Marker())))"
    private var listener: Int32 = -1

    private final class Marker {}

    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit {
        if listener >= 0 { close(listener) }
        try? FileManager.default.removeItem(atPath: directory)
    }

    private var probe: AvahiProbe {
        AvahiProbe(
            socket: directory + "/socket", unitDirectories: [directory], programs: [directory + "/avahi-daemon"])
    }

    private func install() throws {
        try Data().write(to: URL(filePath: directory + "/avahi-daemon"))
    }

    /// Takes connections, and says nothing unless it is told to.
    private func listen() throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: (directory + "/socket").utf8) }
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0 && Glibc.listen(listener, 8) == 0)
    }

    @Test("Avahi that is not installed, stopped or masked is told apart")
    func absent() throws {
        #expect(probe.state == .missing)
        try install()
        #expect(probe.state == .stopped)
        try FileManager.default.createSymbolicLink(
            atPath: directory + "/avahi-daemon.service", withDestinationPath: "/lib/avahi-daemon.service")
        #expect(probe.state == .stopped, "an alias is no mask")
        try FileManager.default.removeItem(atPath: directory + "/avahi-daemon.service")
        try FileManager.default.createSymbolicLink(
            atPath: directory + "/avahi-daemon.service", withDestinationPath: "/dev/null")
        #expect(probe.state == .masked)
    }

    @Test("One that takes a question and says nothing stands still; a socket that nobody listens to is none")
    func silent() throws {
        try install()
        try listen()
        #expect(probe.state == .silent)
        close(listener)
        listener = -1
        #expect(probe.state == .stopped)
    }

    @Test("One that answers is there")
    func answers() async throws {
        try install()
        try listen()
        let descriptor = listener
        let answering = Task.detached {
            let connection = accept(descriptor, nil, nil)
            let answer = Array("+ Available commands are:\n".utf8)
            _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
            return connection
        }
        #expect(probe.state == .answers)
        close(await answering.value)
    }

    @Test("Whatever is wrong comes with what mends it")
    func remedies() {
        for state in [AvahiProbe.State.silent, .stopped, .masked, .missing] { #expect(state.fault != nil) }
        #expect(AvahiProbe.State.answers.fault == nil && AvahiProbe.State.closed.fault == nil)
    }
}
