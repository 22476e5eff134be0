/// What the command line says.
struct Options: Sendable {
    var seeds: UInt64 = 100
    var from: UInt64 = 1
    var jobs = 1
    var replay: UInt64?
    var isVerbose = false
    /// Ends at the first failing seed, without shrinking it.
    var stopsAtFirst = false

    static let usage = """
        usage: simulate [--seeds N] [--from S] [--jobs J] [--stop-at-first] | --replay S [--verbose]
        """

    init(_ arguments: some Sequence<String>) {
        var arguments = Array(arguments)[...]
        while let option = arguments.popFirst() {
            switch option {
            case "--verbose": isVerbose = true
            case "--stop-at-first": stopsAtFirst = true
            case "--seeds", "--from", "--jobs", "--replay":
                guard let value = arguments.popFirst().flatMap({ UInt64($0) }) else { fatalError(Self.usage) }
                switch option {
                case "--seeds": seeds = value
                case "--from": from = value
                case "--jobs": jobs = max(1, Int(value))
                default: replay = value
                }
            default: fatalError(Self.usage)
            }
        }
    }
}
