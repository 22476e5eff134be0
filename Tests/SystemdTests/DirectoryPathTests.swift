import Testing

@testable import Systemd

struct DirectoryPathTests {
    @Test("Two places are one where they are one directory, however they are written")
    func same() {
        #expect(DirectoryPath("/usr/bin").isSame(as: DirectoryPath("/usr/../usr//bin/")))
        #expect(DirectoryPath("/usr/none/such").isSame(as: DirectoryPath("/usr/./none//such/")))
        #expect(DirectoryPath("/usr/none//such/").missing == ["/usr/none", "/usr/none//such"])
        #expect(!DirectoryPath("/usr/none/such").isSame(as: DirectoryPath("/usr/none")))
        #expect(!DirectoryPath("/usr").isSame(as: DirectoryPath("/etc")))
    }

    @Test("Two of which nobody can say what they are, for example below a file, are one where they are written alike")
    func unknown() {
        #expect(!DirectoryPath("/dev/null/a").isSame(as: DirectoryPath("/dev/null/b")))
        #expect(DirectoryPath("/dev/null/a").isSame(as: DirectoryPath("/dev/null/a")))
        #expect(!DirectoryPath("/dev/null/a").isSame(as: DirectoryPath("/usr")))
    }
}
