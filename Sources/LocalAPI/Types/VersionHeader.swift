import HTTPCoding

extension MusterVersion {
    /// In every request and every response: how the two ends of the socket tell each other their versions.
    package static let headerName = "Muster-Version"
}
