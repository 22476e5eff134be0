import Authorship
import CRDT
import Engine
import HTTPCoding
import LocalAPI
import LocalAPIServer
import Logging
import Storage

/// Copies of the store, out and in.
extension InventoryService {
    func backup() async throws -> BackupStream {
        try await answering {
            guard let bytes = store.fileBytes else {
                throw APIError(.unavailable, "The store has no file that could be copied.")
            }
            try transfers.checkRoom(for: bytes)
            let file = try await transfers.withFile { path in
                do { try await store.backUp(to: path) } catch let failure as BackupFailure {
                    throw APIError(.unavailable, "The store could not be copied (\(failure)); try again.")
                }
                return try FilePieces(taking: path)
            }
            return BackupStream(size: await file.size, pieces: Chunks { try await file.next() })
        }
    }

    func restore(_ upload: Upload, isPreview: Bool) async throws -> RestoreReport {
        if !isPreview { try checkThatItWrites() }
        return try await answering {
            try await transfers.withFile { path in
                try await receive(upload, at: path)
                let file = try await Self.check(path)
                try await checkFleet(of: file)
                var generator = machine.generator
                let backup = try await Store.openBackup(
                    at: path, program: MusterVersion.current, hostName: facts.hostName, signer: FleetSigner(fleet),
                    using: &generator)
                defer { try? backup.close() }
                let difference = try await replicator.difference(of: backup)
                var report = RestoreReport(file, difference, isOwn: file.device == store.identity.device)
                guard !isPreview else { return report }
                do {
                    report.add(try await replicator.restore(from: backup, believing: isOwn))
                } catch is RestoreFailure {
                    throw APIError(
                        .unavailable,
                        "The store could not take all of it in; what came is kept. See that the disk has room, and restore again."
                    )
                }
                return report
            }
        }
    }

    private func receive(_ upload: Upload, at path: String) async throws {
        let file = try FileWriter(at: path)
        var sinceCheck = 0
        try transfers.checkRoom(for: 0)
        for try await piece in upload.pieces {
            sinceCheck += piece.count
            if sinceCheck > 8 << 20 {
                try transfers.checkRoom(for: piece.count)
                sinceCheck = 0
            }
            try file.write(piece)
        }
    }

    /// Reading a whole file takes seconds, for which no thread of the tasks' may be held.
    private static func check(_ path: String) async throws -> BackupFile {
        do { return try await BackupFile.checked(at: path) } catch let error as StoreError
            where error.isOfBackup
        { throw APIError(.invalidValue, error.description) }
    }

    /// Whom this laptop believes without a fleet's word: itself; and, while it is in no fleet and meets nobody, whoever was in none,
    /// as it was itself before it lost its key.
    private var isOwn: @Sendable (JournalAuthor) -> Bool {
        let (device, isAlone) = (store.identity.device, fleet.membership == nil && fleet.damage == nil)
        return { !$0.isServer && ($0.device == device || isAlone && $0.certificates.isEmpty) }
    }

    /// What a stranger wrote would be passed over journal by journal.
    private func checkFleet(of file: BackupFile) async throws {
        if let author = file.author {
            if isOwn(author) { return }
            if await fleet.vouches(for: author) { return }
        }
        throw APIError(
            .invalidValue,
            fleet.membership == nil && fleet.damage == nil
                ? "The backup is of another laptop (\(file.device.short)), and this one is in no fleet: let it join that laptop's fleet "
                    + "first ('muster fleet join CODE')."
                : "The backup is of laptop \(file.device.short), which this laptop's fleet has not let in: restore it on a laptop of "
                    + "its own fleet.")
    }
}

extension RestoreReport {
    fileprivate init(_ file: BackupFile, _ difference: BackupDifference, isOwn: Bool) {
        self.init(
            isPreview: true, deviceID: file.device.description, isOwn: isOwn,
            newestChangeAt: file.latestMilliseconds.map { Timestamp(milliseconds: Int64(clamping: $0)) },
            jobs: difference.jobCount,
            restored: difference.jobs.map {
                RestoredJob(
                    id: $0.id.text, name: $0.name, isNew: $0.isNew, transforms: $0.transforms, forks: $0.forks)
            },
            endedThere: difference.endedThere.map { NamedJob(id: $0.id.text, name: $0.name) },
            requests: difference.requests.map {
                RestoredRequest(token: $0.request.token.description, job: $0.job.text, kind: $0.request.kind)
            })
    }

    fileprivate mutating func add(_ outcome: RestoreOutcome) {
        isPreview = false
        transforms = outcome.transforms
        leftOut = outcome.leftOut.map {
            LeftOutJournal(
                job: $0.job.text, replicaID: $0.journal.description, reason: LeftOutJournal.Reason($0.reason))
        }
    }
}

extension LeftOutJournal.Reason {
    fileprivate init(_ reason: RestoreOutcome.LeftOut.Reason) {
        self =
            switch reason {
            case .unvouched: .unvouched
            case .damaged: .damaged
            case .serversWord: .serversWord
            case .forked: .forked
            }
    }
}
