/// In whose words a daemon says what to do: of somebody who sends requests, or of somebody who types commands.
package enum CallerWords: String, Sendable {
    case requests
    case commands

    /// Of a request; who does not send it is told in `requests`.
    package static let headerName = "Muster-Words"
}
