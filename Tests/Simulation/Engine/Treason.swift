/// What a traitor does to those that it is connected with.
package enum Treason: String, CaseIterable, Sendable {
    /// Runs of others' journals that it has heard, passed on with another content under their authors' signature.
    case alteredByte = "altered byte", omission, otherOrder = "other order"
    /// The same with what does not fit their content.
    case wrongSignature = "wrong signature", otherHead = "other head"
    /// Work of its own under another laptop's name.
    case impostor
    /// The same, and it is gone before anybody has looked at it.
    case hitAndRun = "hit and run"
    /// It says that it holds what nobody holds, also of the hearer's own journal.
    case falseClaim = "false claim", ownClaim = "claim of the hearer's own", falseVector = "false vector"
    /// It says that journals part which do not, and lies where it is asked about that.
    case falseFork = "false fork", falseProbe = "false probe", partAsBranch = "part as a branch"
    /// It asks for anything.
    case demand
    /// Runs that their authors have signed, at any time.
    case replay
    /// What any laptop may do: it writes a journal. And what none may: it signs two contents of it.
    case ownWork = "own work", ownFork = "own fork"
    /// A request in its journal that is not its author's: of another job, in another name, or with another signature.
    case forgedRequest = "forged request"
    /// It says itself who is on a job, in its own name, in that of one who may, or with another content than was signed. And it tells
    /// what others have said, at any time.
    case falseWord = "false word", oldWord = "old word"

    /// All but those of which nobody speaks in most histories.
    static let aboutJournals = allCases.filter { $0 != .falseWord && $0 != .oldWord }
}
