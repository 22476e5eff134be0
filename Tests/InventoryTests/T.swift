import Testing
@Test func placeholderInventory() {}
