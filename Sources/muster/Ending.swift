import ArgumentParser
import Glibc
import UnixSignals
import Usage

/// How a run ends that does not go on: with the help that was asked for, or with what is wrong, in the words of all other errors.
enum Ending {
    static func end(with error: any Error) -> Never {
        let code = Muster.exitCode(for: error)
        guard code != .success else {
            StandardOutput.lines(Help.fitted(Muster.fullMessage(for: error), on: .output))
            exit(code.rawValue)
        }
        let typed = Array(CommandLine.arguments.dropFirst())
        if let sentence = UsageEnding.sentence(of: error, in: Muster.self, typed: typed) {
            StandardError.say(Text.plain(sentence))
        }
        exit(code.rawValue)
    }
}

/// A help text on a terminal that may be narrower than the lines that somebody has broken by hand.
enum Help {
    static func fitted(_ text: String, on terminal: Terminal) -> [String] {
        let lines = withWholeExamples(text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
        guard terminal.isInteractive, let start = lines.firstIndex(where: { $0.hasPrefix("USAGE:") }) else {
            return lines
        }
        let end = lines[start...].firstIndex(where: \.isEmpty) ?? lines.endIndex
        guard lines[start..<end].contains(where: { Text.width($0) > terminal.width }) else { return lines }
        let words = tokens(of: lines[start..<end].joined(separator: " ").dropFirst("USAGE:".count))
        var usage = ["USAGE:"]
        for word in words {
            if let last = usage.last, Text.width(last) + 1 + Text.width(word) <= terminal.width {
                usage[usage.count - 1] = "\(last) \(word)"
            } else {
                usage.append("       \(word)")
            }
        }
        return lines[..<start] + usage + lines[end...]
    }

    /// A command that is broken into lines is copied without its end; a terminal goes on in the next line by itself.
    private static func withWholeExamples(_ lines: [String]) -> [String] {
        var (whole, isExample) = ([String](), false)
        for line in lines {
            let goesOn = isExample && !line.isEmpty && !line.hasPrefix(" ") && !line.hasPrefix("Example")
            if goesOn, let last = whole.last, last.hasPrefix(" ") {
                whole[whole.count - 1] = last + " " + line
                continue
            }
            isExample = line.hasPrefix("Example") || isExample && !line.isEmpty
            whole.append(line)
        }
        return whole
    }

    /// What stands in brackets is not broken.
    private static func tokens(of text: Substring) -> [String] {
        var (tokens, depth) = ([String](), 0)
        for word in text.split(separator: " ") {
            if depth > 0, let last = tokens.popLast() {
                tokens.append("\(last) \(word)")
            } else {
                tokens.append("\(word)")
            }
            depth += word.count { $0 == "[" || $0 == "(" } - word.count { $0 == "]" || $0 == ")" }
        }
        return tokens
    }
}

extension Ending {
    /// As if nobody had waited for the signal. Whoever traps signals may take one more of them for its own (signalfd(2)), and then the
    /// kernel does nothing: so it is sent until this is over.
    static func end(by unixSignal: UnixSignal) -> Never {
        let number = unixSignal == .sigint ? SIGINT : SIGTERM
        signal(number, SIG_DFL)
        for _ in 0..<1_000 {
            kill(getpid(), number)
            usleep(1_000)
        }
        _exit(128 + number)
    }
}
