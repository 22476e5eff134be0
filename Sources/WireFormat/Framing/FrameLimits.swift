package import Replication

extension ProtocolLimits {
    /// A frame's payload until the hello came, in bytes: a stranger may cost little.
    package static let helloFrameBytes = 4 << 10
    /// What a compressed run may become, in bytes: no more than one that goes as it is and has a frame to itself.
    package static let compressedRunBytes = frameBytes - (1 << 10)
    /// The reason in a goodbye, in bytes of UTF-8; longer ones are cut when they are sent.
    package static let reasonBytes = 512
    /// The big-endian length before each payload, in bytes.
    package static let frameHeaderBytes = 4
}
