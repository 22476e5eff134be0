/// The exit codes of `muster`, from sysexits.h.
package enum SystemExit: Int32, Sendable, CaseIterable {
    case ok = 0
    /// `job check` found a difference, `doctor` a fault, or a person did not confirm.
    case different = 1
    /// `job check` cannot know whether everybody holds the same.
    case unknown = 2
    /// EX_USAGE: the command line is wrong.
    case usage = 64
    /// EX_DATAERR: what was given is wrong: a name nobody knows, a bad row, a bad value.
    case badData = 65
    /// EX_UNAVAILABLE: the daemon cannot be reached; or it went away, or was silent, before it was known whether it has done what was asked.
    case unavailable = 69
    /// EX_SOFTWARE: a fault of the program.
    case software = 70
    /// EX_IOERR: what the command says cannot be written, as on a full disk; what it has asked for may be done.
    case outputFailed = 74
    /// EX_TEMPFAIL: the same command may succeed later.
    case tryAgain = 75
    /// EX_NOPERM: another user, or another laptop, may do that.
    case notPermitted = 77

    /// The same start would end in the same way: settings, a store of another version, and missing permission do not mend by
    /// themselves, so that whoever starts programs anew leaves this one (`RestartPreventExitStatus=` of the units).
    package var isFinal: Bool {
        switch self {
        case .usage, .badData, .notPermitted: true
        case .ok, .different, .unknown, .unavailable, .software, .outputFailed, .tryAgain: false
        }
    }
}
