import FoundationEssentials
import Glibc
import LocalAPI

/// Where carried files lie: a file, or a directory with many.
struct CarryPlace {
    static let suffix = ".muster"
    static let cardSuffix = ".muster-card"
    /// The file's beginning, and then the id of the laptop that it is for.
    private static let magic = Array("muster carry 1\n".utf8)

    let path: String
    let isDirectory: Bool

    init(_ path: String) {
        self.path = path
        var status = stat()
        isDirectory = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// What others have left there.
    func cards(without own: String) throws -> [String] {
        guard isDirectory else { return [] }
        return try names(ending: Self.cardSuffix, atMost: 64 << 10).filter { !$0.contains(own.prefix(8)) }.prefix(
            CarryRecipientsRequest.mostCards
        ).compactMap { name in
            let card = (try? String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)) ?? ""
            return card.contains("BEGIN CERTIFICATE") ? card : nil
        }
    }

    /// Leaves this laptop's.
    func leave(_ card: CarryCard) throws {
        let name = "\(path)/\(Self.plain(card.name))-\(card.deviceID.prefix(8))\(Self.cardSuffix)"
        let file = try CarriedFile(name)
        do {
            try file.write(Array(card.certificates.utf8))
            try file.finish()
        } catch {
            file.discard()
            throw error
        }
    }

    /// What a file for a laptop is called here.
    func file(from own: String, to recipient: CarryRecipient) -> String {
        guard isDirectory else { return path }
        var now = time(nil)
        var parts = tm()
        localtime_r(&now, &parts)
        func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + "\(number)" }
        let day = "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))"
        let moment = "\(day)-\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))"
        let reader = (recipient.name.map { Self.plain($0) + "-" } ?? "") + recipient.deviceID.prefix(8)
        return "\(path)/\(Self.plain(own))-for-\(reader)-\(moment)\(Self.suffix)"
    }

    /// The files there that are for a laptop, by name; a file that was named itself in any case.
    func files(for device: String) throws -> [String] {
        guard isDirectory else { return [path] }
        return try names(ending: Self.suffix).map { "\(path)/\($0)" }.filter { Self.isFile($0, for: device) }
    }

    private static func isFile(_ path: String, for device: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var beginning = [UInt8](repeating: 0, count: magic.count + 32)
        guard read(descriptor, &beginning, beginning.count) == beginning.count, beginning.starts(with: magic) else {
            // What cannot be told apart is shown to the daemon, which says what is wrong with it.
            return true
        }
        let digits = beginning.dropFirst(magic.count).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return digits.joined() == device
    }

    /// Files only: what somebody else has put on a stick may be a pipe, on which a reader would wait for ever.
    private func names(ending suffix: String, atMost bytes: Int = .max) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).filter { name in
                var status = stat()
                return name.hasSuffix(suffix) && !name.hasPrefix(".") && lstat("\(path)/\(name)", &status) == 0
                    && status.st_mode & S_IFMT == S_IFREG && Int(status.st_size) <= bytes
            }.sorted()
        } catch {
            throw APIError(.invalidValue, "Cannot read \(path); check its name, and whether you may.")
        }
    }

    /// A stick's file system takes few signs.
    private static func plain(_ name: String) -> String {
        let kept = name.prefix(40).map { sign -> Character in
            sign.isASCII && (sign.isLetter || sign.isNumber || sign == "-" || sign == "_") ? sign : "-"
        }
        return kept.isEmpty ? "laptop" : String(kept)
    }
}

/// A file that is there whole or not at all.
final class CarriedFile {
    private let path: String
    private let temporary: String
    private var descriptor: Int32

    init(_ path: String) throws {
        self.path = path
        let slash = path.lastIndex(of: "/")
        let (directory, name) = slash.map { (path[...$0], path[path.index(after: $0)...]) } ?? ("", path[...])
        temporary = "\(directory).\(name).part"
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else {
            throw APIError(
                errno == EACCES ? .notPermitted : .invalidValue,
                "Cannot write \(path) (\(String(cString: strerror(errno)))): name another place.")
        }
    }

    func write(_ bytes: [UInt8]) throws {
        var written = 0
        while written < bytes.count {
            let result = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { throw failure() }
            written += result
        }
    }

    /// On the stick, with its name, when this returns (fsync(2) of both, rename(2)).
    func finish() throws {
        guard fsync(descriptor) == 0, rename(temporary, path) == 0 else { throw failure() }
        close(descriptor)
        descriptor = -1
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw failure() }
        defer { close(parent) }
        // Some file systems of sticks have none for directories (EINVAL).
        guard fsync(parent) == 0 || errno == EINVAL else { throw failure() }
    }

    /// Nothing of it is left.
    func discard() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        unlink(temporary)
    }

    private func failure() -> APIError {
        APIError(
            .unavailable,
            "\(path) could not be written (\(String(cString: strerror(errno)))), and nothing of it is left: make room, and carry out again."
        )
    }
}

/// How far a file is, on standard error, if a person is looking.
struct CarryProgress {
    private let isShown = isatty(STDERR_FILENO) == 1
    private let size: Int?

    init(size: Int?) { self.size = size }

    func show(_ bytes: Int) {
        guard isShown else { return }
        var text = Formats.bytes(bytes)
        if let size, size > 0 {
            let share = min(1, Double(bytes) / Double(size))
            let filled = Int(share * 30)
            let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
            text = "\(bar) \(Int(share * 100)) %  " + text
        }
        StandardError.write("\r\u{1B}[K\(text)")
    }

    func clear() {
        if isShown { StandardError.write("\r\u{1B}[K") }
    }
}
