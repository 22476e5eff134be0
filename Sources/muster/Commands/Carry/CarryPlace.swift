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
        let file = try WholeFile(path: name, isReplacing: true, isPrivate: false)
        try file.write(Array(card.certificates.utf8))
        try file.publish()
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
        // Taken for one, so that whoever takes it in says why it cannot be read.
        guard descriptor >= 0 else { return true }
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
