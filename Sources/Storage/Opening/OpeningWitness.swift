import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A small file beside a store that tells whether the store is as this program left it (rule R9).
///
/// Each opening has a random number, which stands in the store and in this file. A store whose content was put back in place
/// holds an older one, though machine, path and even the file's number are the same. Who puts the whole directory back, or
/// the whole disk, puts this file back, too: then only the peers can tell.
struct OpeningWitness {
    private let path: String

    init(ofStoreAt path: String) {
        self.path = path + "-opened"
    }

    /// Whether `opening` is the last one; or the one before it, as long as the store may not have noted the last one.
    ///
    /// - Parameter opening: nil for a store that was never opened by a program with such a file.
    func knows(_ opening: Int64?) -> Bool {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return opening == nil }
        return text.split(separator: "\n").contains { Int64($0) == opening ?? Self.none }
    }

    /// Stands for none.
    private static let none: Int64 = 0

    /// Notes an opening durably, before the store does.
    func begin(_ opening: Int64, after last: Int64?) throws { try write([last ?? Self.none, opening]) }

    /// The store has noted it: nothing older is known any more.
    func complete(_ opening: Int64) throws { try write([opening]) }

    private func write(_ openings: [Int64]) throws {
        try Disk.replace(path, with: Array(openings.map { "\($0)\n" }.joined().utf8))
    }
}
