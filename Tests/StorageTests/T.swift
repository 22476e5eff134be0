import Testing
@Test func placeholderStorage() {}
