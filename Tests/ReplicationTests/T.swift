import Testing
@Test func placeholderReplication() {}
