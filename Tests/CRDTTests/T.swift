import Testing
@Test func placeholderCRDT() {}
