#if canImport(Glibc)
    import Glibc
#endif

/// What the command line says.
struct Options: Sendable {
    var seeds: UInt64 = 100
    var from: UInt64 = 1
    var jobs = 1
    var replay: UInt64?
    /// Ends at the first failing seed.
    var stopsAtFirst = false
    static let usage = """
        usage: simulate [--seeds N] [--from S] [--jobs J] [--stop-at-first] | --replay S

          --seeds N        how many histories (100), from number S (1) on, J at a time (1)
          --stop-at-first  ends at the first history that breaks a rule
          --replay S       tells what was done in one

        Example: simulate --seeds 1000 --jobs 2

        """

    init(_ arguments: some Sequence<String>) {
        var arguments = Array(arguments)[...]
        while let option = arguments.popFirst() {
            switch option {
            case "--stop-at-first": stopsAtFirst = true
            case "--seeds", "--from", "--jobs", "--replay":
                guard let value = arguments.popFirst().flatMap({ UInt64($0) }) else {
                    Self.refuse("\(option) needs a number")
                }
                switch option {
                case "--seeds": seeds = value
                case "--from": from = value
                case "--jobs": jobs = max(1, Int(value))
                default: replay = value
                }
            case "--help", "-h":
                print(Self.usage)
                exit(0)
            default: Self.refuse("there is no option '\(option)'")
            }
        }
    }

    /// Says what is wrong and how it goes, and ends as sysexits.h has it for wrong usage.
    private static func refuse(_ complaint: String) -> Never {
        let text = Array("simulate: \(complaint).\n\(usage)".utf8)
        _ = write(STDERR_FILENO, text, text.count)
        exit(64)
    }
}
