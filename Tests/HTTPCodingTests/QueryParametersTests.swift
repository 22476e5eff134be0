import Testing

@testable import HTTPCoding

@Suite
struct QueryParametersTests {
    @Test("Pairs are decoded as forms write them, in their order")
    func pairs() {
        let query = QueryParameters("where=name%3DA+B&where=room%3D%2B&flag&&x=1=2")
        #expect(query?.values(of: "where") == ["name=A B", "room=+"])
        #expect(query?.values(of: "flag") == [""] && query?.values(of: "x") == ["1=2"])
        #expect(query?.all.map(\.name) == ["where", "where", "flag", "x"])
        #expect(QueryParameters(nil)?.all.isEmpty == true)
    }

    @Test("What is not percent-encoded UTF-8 is none", arguments: ["a=%", "%zz=1", "a=%ff"])
    func malformed(text: String) {
        #expect(QueryParameters(text) == nil)
    }
}

@Suite
struct PathPatternTests {
    @Test("A path is of a form when each segment is, or the form leaves it open")
    func matches() {
        let items = PathPattern("/v1/jobs/{job}/items")
        #expect(items.matches("/v1/jobs/7/items") && items.literalCount == 3)
        #expect(!items.matches("/v1/jobs/7") && !items.matches("/v1/jobs/7/log"))
    }
}
