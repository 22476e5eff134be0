import Foundation
import LocalAPI
import Storage
import Systemd
import Testing

@testable import Node

@Suite("Why a daemon could not run")
struct StartFailureTests {
    @Test(
        "Scripts can tell a store that will never open from one that may open later",
        arguments: [
            (StoreError.Code.newerThanProgram, 65), (.olderThanProgram, 65), (.otherRole, 65), (.damaged, 65),
            (.readOnly, 77), (.diskFull, 75), (.busy, 75),
        ] as [(StoreError.Code, Int32)])
    func exitCode(code: StoreError.Code, expected: Int32) {
        let failure = StartFailure(StoreError(code, "It is so; do that."))
        #expect(failure.exit.rawValue == expected)
        #expect(failure.sentence.contains("do that"))
    }

    @Test(
        "So can they with sockets",
        arguments: [(.invalidValue, 64), (.notPermitted, 77), (.unavailable, 75)] as [(APIError.Code, Int32)])
    func socket(code: APIError.Code, expected: Int32) {
        let failure = StartFailure(APIError(code, "It is so; do that."))
        #expect(failure.exit.rawValue == expected && failure.sentence == "It is so; do that.")
    }

    @Test(
        "A directory that another daemon uses, or that is on no disk yet, may be had later; one that is not permitted may not"
    )
    func stateDirectory() throws {
        let place = URL.temporaryDirectory.appending(path: "muster-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: place) }
        let path = place + "/deep/state"
        let directory = try StateDirectory(path: path)
        #expect(directory.storePath == path + "/muster.sqlite")
        let attributes = try FileManager.default.attributesOfItem(atPath: place + "/deep")
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        func exit(_ path: String) -> Int32? {
            do { _ = try StateDirectory(path: path) } catch { return StartFailure(error).exit.rawValue }
            return nil
        }
        #expect(exit(path) == 75)
        #expect(exit(path + "/lock/below") == 64, "a file is in the way")
        func checked(_ path: String) -> Int32? {
            do { try StateDirectory.check(path) } catch { return StartFailure(error).exit.rawValue }
            return nil
        }
        #expect(checked(path + "/lock/below") == 64 && checked(path + "/lock") == 64, "the same is known before")
        #expect(checked(path) == nil && checked(place + "/a/b/c") == nil)
        #expect(!FileManager.default.fileExists(atPath: place + "/a"), "nothing is made")
    }

    @Test("A daemon that does not start has no log but this line, so it names the cause")
    func cause() {
        let failure = StartFailure(StoreError(.other, "It is so; do that.", cause: "no such table: item"))
        #expect(failure.sentence == "It is so; do that. (no such table: item)")
    }
}
