import Testing

@testable import Inventory

struct CatalogueTests {
    @Test("Every category has its own id, a name and a volume")
    func complete() {
        let ids = Catalogue.categories.map(\.id)
        #expect(Set(ids).count == ids.count)
        #expect(ids.count == 130)
        #expect(Catalogue.categories.allSatisfy { !$0.name.isEmpty && $0.cubicFeet > .zero })
        #expect(Catalogue.category("piano-upright")?.cubicFeet == Thousandths(50_000))
        #expect(Catalogue.category("Piano-Upright") == nil)
    }
}
