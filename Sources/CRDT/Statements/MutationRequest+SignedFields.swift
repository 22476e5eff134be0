extension MutationRequest {
    /// Everything that is signed of it: all but the signature, as it stands in a journal.
    package var signedFields: [UInt8] {
        var writer = ByteWriter(reservingCapacity: 160 + payload.count)
        RequestCodec.encodeSignedFields(of: self, into: &writer)
        return writer.bytes
    }
}
