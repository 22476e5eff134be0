import Foundation
import Testing

@testable import Node

@Suite("The token for the server")
struct ServerTokenTests {
    @Test("It is public when others may read the file, whatever link leads there", arguments: [0o600, 0o640, 0o644])
    func permissions(mode: Int) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "token")
        try Data("abc\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        let link = directory.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        for path in [file.path, link.path] {
            let token = ServerToken(file: path)
            #expect(token.isPublic == (mode & 0o004 != 0))
            #expect(token.read() == "abc")
        }
        #expect(!ServerToken(file: directory.appending(path: "nothing").path).isPublic)
        // A link is longer than what it leads to.
        #expect(Surroundings.fileBytes(at: link.path) == 4)
    }
}
