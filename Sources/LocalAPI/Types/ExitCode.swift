package import Systemd

extension APIError {
    /// What `muster` exits with after this error; 65 for every code that is not told apart here.
    package var systemExit: SystemExit {
        switch code {
        case .unreachable: .unavailable
        case .confirmationNeeded: .usage
        case .unavailable: .tryAgain
        case .notPermitted: .notPermitted
        case .failed, .unexpectedAnswer, .notFound: .software
        default: .badData
        }
    }
}
