import Foundation
import Testing

enum Snapshot {
    /// What is compared with is written instead.
    static let isRecording = ProcessInfo.processInfo.environment["MUSTER_RECORD"] == "1"
}

/// Compares text with a committed file; with `MUSTER_RECORD=1` writes the file instead.
func expectSnapshot(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Snapshots/\(name).txt")
    if Snapshot.isRecording {
        try text.write(to: file, atomically: true, encoding: .utf8)
        return
    }
    let expected = try String(contentsOf: file, encoding: .utf8)
    #expect(text == expected, "run with MUSTER_RECORD=1 to accept", sourceLocation: sourceLocation)
}
