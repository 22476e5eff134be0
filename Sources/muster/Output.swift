import Glibc
import HTTPCoding
import LocalAPI
import Systemd

/// Standard output, written at once and whole.
enum StandardOutput {
    static func write(_ text: String) {
        write(Array(text.utf8))
    }

    static func write(_ bytes: [UInt8]) {
        Descriptor.write(bytes, to: STDOUT_FILENO)
    }

    /// One document, readable for people too.
    static func json(_ value: some Encodable) throws {
        write(try JSON.encode(value, pretty: true) + [UInt8(ascii: "\n")])
    }

    /// One document on one line, as in a stream.
    static func jsonLine(_ value: some Encodable) throws {
        write(try JSON.encode(value) + [UInt8(ascii: "\n")])
    }

    static func lines(_ lines: [String]) {
        write(lines.map { $0 + "\n" }.joined())
    }

    /// What was done, in a sentence.
    static func say(_ sentence: String) { lines(Terminal.output.lines(of: sentence)) }

    /// What is said in the place of a list without rows: a program reads no rows then.
    static func remark(_ sentence: String) {
        if Terminal.output.isPiped { StandardError.write(sentence + "\n") } else { say(sentence) }
    }
}

enum StandardError {
    /// What a person has to know, in a sentence, after the program's name.
    ///
    /// - Parameter start: what is written before it, in the same write.
    static func say(_ sentence: String, after start: String = "") {
        write(start + Terminal.error.lines(of: "muster: \(sentence)").map { $0 + "\n" }.joined())
    }

    static func write(_ text: String) {
        Descriptor.write(Array(text.utf8), to: STDERR_FILENO)
    }
}

/// A JSON array on standard output whose elements come one by one.
struct JSONArrayOutput {
    private var buffer: [UInt8] = Array("[".utf8)
    private var isFirst = true

    mutating func add(_ value: some Encodable) throws {
        buffer += Array((isFirst ? "\n" : ",\n").utf8)
        buffer += try JSON.encode(value)
        isFirst = false
        if buffer.count > 64 << 10 { flush() }
    }

    mutating func finish() {
        buffer += Array((isFirst ? "]\n" : "\n]\n").utf8)
        flush()
    }

    private mutating func flush() {
        StandardOutput.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}

private enum Descriptor {
    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                // The reader has gone, as in `muster job log JOB | head`: there is nobody left to tell.
                guard errno != EPIPE, descriptor != STDERR_FILENO else {
                    exit(errno == EPIPE ? SystemExit.ok.rawValue : SystemExit.outputFailed.rawValue)
                }
                StandardError.say(
                    "The output cannot be written (\(OutputCheck.reason)) and is not whole: let it go somewhere else. What the command has changed "
                        + "stays changed.")
                exit(SystemExit.outputFailed.rawValue)
            }
        }
    }
}
