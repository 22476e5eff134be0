import Foundation
import Systemd
import Testing

@Suite("The units in systemd/")
struct UnitFileTests {
    private static func unit(_ name: String) throws -> [Substring] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "systemd/\(name)"), encoding: .utf8)
        return text.split(separator: "\n")
    }

    @Test(
        "systemd leaves a program alone that ends with what does not mend by itself, and starts it anew else",
        arguments: ["musterd.service", "muster-channel.service"])
    func exitCodes(name: String) throws {
        let lines = try Self.unit(name)
        let setting = "RestartPreventExitStatus="
        let line = try #require(lines.first { $0.hasPrefix(setting) })
        let codes = line.dropFirst(setting.count).split(separator: " ").compactMap { Int32($0) }
        #expect(codes == SystemExit.allCases.filter(\.isFinal).map(\.rawValue))
        #expect(lines.contains("Restart=on-failure"))
    }

    @Test(
        "Each line of a sandbox stands below a reason", arguments: ["musterd.service", "muster-channel.service"])
    func reasons(name: String) throws {
        // What stands together has one reason; an empty line ends it.
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "systemd/\(name)"), encoding: .utf8)
        for block in text.components(separatedBy: "\n\n") where block.contains("=") && !block.hasPrefix("[Install]") {
            let first = block.split(separator: "\n").first { !$0.hasPrefix("[") } ?? ""
            #expect(first.hasPrefix("#") || first.hasPrefix("Description="), "\(name): \(first)")
        }
    }
}
