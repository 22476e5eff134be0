/// Pieces of something that is too long to hold: the next one is read when the caller has taken the last, beside the caller's
/// thread.
///
/// Whose task is cancelled gets an error, never an end, as `AsyncThrowingStream(unfolding:)` would give: half an export
/// must not look like a whole one.
package struct PullSequence<Piece: Sendable>: AsyncSequence, Sendable {
    private let pull: @Sendable () async throws -> Piece?

    /// - Parameter pull: the next piece, nil after the last.
    package init(_ pull: @escaping @Sendable () async throws -> Piece?) {
        self.pull = pull
    }

    /// Pulls from the sequence's one source: a second iterator goes on where the first has stopped.
    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pull: @Sendable () async throws -> Piece?

        /// Nil after the last piece; throws `CancellationError` in a cancelled task.
        package mutating func next() async throws -> Piece? {
            try Task.checkCancellation()
            return try await withTaskExecutorPreference(globalConcurrentExecutor) { try await pull() }
        }
    }

    /// For a sequence made of this one, whose iterator looks for cancellation and chooses the thread.
    func next() async throws -> Piece? { try await pull() }

    /// Does not begin anew: the source is read once.
    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pull: pull) }
}

/// Elements in pieces of a few hundred.
package typealias Batches<Element: Sendable> = PullSequence<[Element]>

/// Bytes in pieces of some 64 KiB.
package typealias Chunks = PullSequence<[UInt8]>
