import Foundation
import Testing

@testable import Systemd

@Suite("A file of variables")
struct EnvironmentFileTests {
    private func variables(_ text: String) throws -> [String: String] {
        try EnvironmentFile(text: text, name: "/etc/default/muster").variables
    }

    @Test("Settings, comments and empty lines, as systemd reads them")
    func lines() throws {
        let text = """
            # MUSTER_LISTEN=*:1
            ; another comment

            MUSTER_SERVER=https://office:7480
              MUSTER_HOST_NAME = "Anna's laptop"
            """
        #expect(throws: EnvironmentFile.Fault.self) { try variables(text) }
        #expect(
            try variables("#A=1\n;B=2\n\n  C=https://office:7480/?a=b \nD=\"of Anna\"\r\nE='x'\nF=\nC=last")
                == ["C": "last", "D": "of Anna", "E": "x", "F": ""])
    }

    @Test(
        "What would be read otherwise than it looks is refused with its line",
        arguments: ["MUSTER_LISTEN", "=1", "1A=2", "A B=2", "A-B=1", "A=\"x", "A=x\"y\"", "A=x\\", "A='it\"s'", "Ä=1"])
    func refused(line: String) throws {
        let fault = #expect(throws: EnvironmentFile.Fault.self) { try variables("B=1\n\(line)\n") }
        #expect(fault?.description.hasPrefix("Line 2 of /etc/default/muster is no setting; ") == true)
    }

    @Test("A file that was there and is gone, or empty, is no wish for the defaults; one that never was may stay away")
    func again() throws {
        let path = NSTemporaryDirectory() + "muster-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let never = try EnvironmentFile(path: path)
        #expect(try never.again().variables.isEmpty)
        try "A=1\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try never.again().variables == ["A": "1"])
        let file = try EnvironmentFile(path: path)
        try "# all as usual\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try file.again().variables.isEmpty)
        try "".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: EnvironmentFile.Fault.self) { try file.again() }
        try FileManager.default.removeItem(atPath: path)
        let fault = #expect(throws: EnvironmentFile.Fault.self) { try file.again() }
        #expect(fault?.description.contains("\(path) is gone or empty; put it back") == true)
    }

    @Test("A path that only a shell could read is refused")
    func tilde() {
        #expect(throws: EnvironmentFile.Fault.self) { try EnvironmentFile(path: "~/muster") }
    }

    @Test("A file that is not there sets nothing; what is no file is refused")
    func files() throws {
        #expect(try EnvironmentFile(path: "/nowhere/muster").variables.isEmpty)
        #expect(throws: EnvironmentFile.Fault.self) { try EnvironmentFile(path: "/") }
    }
}
