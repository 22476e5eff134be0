/// Something that a pure module may not say, and what to say instead.
struct BannedCall: Sendable {
    /// A regular expression on code without comments and strings.
    let pattern: String
    let insteadUse: String
    /// Allowed after all when the call's arguments name this.
    var unlessArgumentsContain: String?
}

let bannedInPureModules: [BannedCall] = [
    BannedCall(pattern: #"\bDate\s*\("#, insteadUse: "take the time as a parameter (now:)"),
    // The simulated world has a now of its own.
    BannedCall(
        pattern: #"(?:^|[^\w)\]]|[Cc]lock|Instant|DispatchTime|Date)\.now\b"#,
        insteadUse: "take the time as a parameter (now:)"),
    BannedCall(
        pattern: #"\b(ContinuousClock|SuspendingClock)\b"#, insteadUse: "take the time as a parameter (now:)"),
    BannedCall(
        pattern: #"\.random\s*\("#, insteadUse: "draw from a generator that is passed in (using: &rng)",
        unlessArgumentsContain: "using:"),
    BannedCall(
        pattern: #"\.(randomElement|shuffled|shuffle)\s*\("#,
        insteadUse: "draw from a generator that is passed in (using: &rng)", unlessArgumentsContain: "using:"),
    BannedCall(
        pattern: #"\bSystemRandomNumberGenerator\b"#, insteadUse: "take a generator as a parameter (using: &rng)"),
    BannedCall(pattern: #"\bUUID\s*\("#, insteadUse: "mint ids from a generator that is passed in"),
    BannedCall(
        pattern: #"\.hashValue\b|\bHasher\s*\("#,
        insteadUse: "use SipHash: Swift's hashes have another seed in every process"),
    BannedCall(pattern: #"\bTask\b"#, insteadUse: "return a directive; the shell owns the tasks"),
    BannedCall(pattern: #"\b(await|async|actor)\b"#, insteadUse: "return a directive; the shell waits"),
    BannedCall(
        pattern: #"(?:^|[^.\w])(print|debugPrint|dump)\s*\("#,
        insteadUse: "return what there is to say; the shell logs"),
]

/// The simulation: what is not in its seed is no part of a run. Who looks at a store waits for it, so it may await.
let bannedInSimulation: [BannedCall] =
    bannedInPureModules.filter { !$0.pattern.contains("await") }
    + [
        BannedCall(
            pattern:
                #"\b(clock_gettime|gettimeofday|time|arc4random\w*|random|rand|getrandom)\s*\(\s*(nil|&|CLOCK|\)|[0-9])"#,
            insteadUse: "draw from the world's generator and clock"),
        BannedCall(pattern: #"\b(usleep|nanosleep)\s*\("#, insteadUse: "let the world's time pass"),
        BannedCall(
            pattern: #"\b(withTaskGroup|withThrowingTaskGroup|async\s+let)\b"#,
            insteadUse: "one history is one step after another"),
    ]

/// The daemon's own actors in virtual time need tasks, and have clocks of their own; what does not come from their scheduler
/// ends the run.
let bannedInSimulatedEngine = bannedInSimulation.filter { banned in
    !["Task", "DispatchTime", "arc4random"].contains { banned.pattern.contains($0) }
}

let bannedInAllSources: [BannedCall] = [
    BannedCall(
        pattern: #"[\w\)\]>\}]!(?!=)"#,
        insteadUse: "let the error pass on, use as?, guard let, or ?? with a value that is right there"),
    BannedCall(
        pattern: #"\b(public|open)\s+(?!import\b)(?=[a-z])"#,
        insteadUse: "use package: nothing outside of this package links to it"),
    // Two translating functions are put around it at each access and never taken off: a chain that ends the program.
    BannedCall(
        pattern: #"\bMutex<\(+\s*(@|\()"#,
        insteadUse: "put the function into a struct: a Mutex wraps a bare one at each look"),
]

/// The places in a file that say what is banned.
func violations(of rules: [BannedCall], in file: SourceFile) throws -> [Violation] {
    let code = CodeOnly.of(file.text)
    var found: [Violation] = []
    for rule in rules {
        // Unicode's own word boundary sees `Task.sleep` as one word.
        for match in code.matches(of: try Regex(rule.pattern).wordBoundaryKind(.simple)) {
            if let excuse = rule.unlessArgumentsContain, arguments(in: code, after: match.range).contains(excuse) {
                continue
            }
            let line = code[..<match.range.upperBound].count(where: \.isNewline) + 1
            let said = code[match.range].trimmingPrefix(while: \.isWhitespace)
            found.append(Violation(path: file.path, line: line, message: "'\(said)': \(rule.insteadUse)"))
        }
    }
    return found.sorted { $0.line < $1.line }
}

/// What stands between the parenthesis that ends the match and the one that closes it.
private func arguments(in code: String, after match: Range<String.Index>) -> Substring {
    var depth = 1
    var at = match.upperBound
    while at < code.endIndex {
        if code[at] == "(" { depth += 1 }
        if code[at] == ")" { depth -= 1 }
        if depth == 0 { break }
        at = code.index(after: at)
    }
    return code[match.upperBound..<at]
}
