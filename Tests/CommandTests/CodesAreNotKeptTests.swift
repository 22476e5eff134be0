@testable import LocalAPIServer
import Testing

@testable import LocalAPI

@Suite("What a request with a key leaves behind")
struct CodesAreNotKeptTests {
    @Test("Where a code stands in a request or its answer no key is taken; everywhere else that writes one is")
    func paths() {
        let without = Route.all.filter { "\($0.method)" != "GET" && !$0.takesKey }.map { "\($0.method) \($0.path)" }
        #expect(
            Set(without) == [
                "POST /v1/fleet/invitations", "PUT /v1/fleet/invitations/{invitation}",
                "DELETE /v1/fleet/invitations/{invitation}", "POST /v1/fleet/join", "DELETE /v1/fleet/join",
                // These write nothing that would be there twice, and two of them are as long as a file.
                "POST /v1/carry/recipients", "POST /v1/carry/out", "POST /v1/carry/in", "POST /v1/restore",
            ])
    }
}
