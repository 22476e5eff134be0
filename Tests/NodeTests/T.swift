import Testing
@Test func placeholderNode() {}
