import Testing
@Test func placeholderWireFormat() {}
