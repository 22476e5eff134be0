/// The version of the program and how the two ends of the socket tell it to each other.
package enum MusterVersion {
    /// Of this build; `Status` tells the daemon's, `muster --version` that of the command line.
    package static let current = "0.1.0"
    /// In every request and every response.
    package static let headerName = "Muster-Version"
    /// Where a daemon listens unless told otherwise.
    package static let defaultSocketPath = "/run/muster/muster.sock"
}
