import CRDT
import Storage

/// The end of a run: nobody is away for ever, so nothing may stay behind for ever (rule R10).
extension World {
    /// What went with removed jobs is freed in bounded time. Then a person deals with the late work: after that nothing
    /// is left of it to deal with, and what was accepted is in a job like any other.
    func tidyUp() async throws {
        try await waitUntilFreed()
        var rounds = 0
        while hasLateWork, rounds < 2 * devices.count {
            rounds += 1
            let accepts = (plan.seed + UInt64(rounds)) % 3 != 0
            try await decideLate(by: devices[rounds % devices.count], accepts: accepts)
            try await waitForAgreement()
            guard haveConverged else {
                throw Violation("liveness", "the vectors differ after a person has tidied up.\(difference)")
            }
        }
        guard rounds > 0 else { return }
        guard !hasLateWork else {
            throw Violation("liveness", "late work is left, though a person has dealt with it.")
        }
        try await waitUntilFreed()
        try await checkAgreement()
    }

    private var hasLateWork: Bool { devices[0].references.values.contains { !$0.late.isEmpty } }

    private func waitUntilFreed() async throws {
        let deadline = now + Self.patience
        let holders: [Holder] = devices + [office]
        while holders.contains(where: \.isFreeing) {
            guard now < deadline else {
                throw Violation("liveness", "what went with removed jobs is not freed in four minutes.")
            }
            try await run(until: now + 1_000_000)
        }
        for holder in holders { try await checker.checkFreed(on: holder) }
    }

    /// What this run made possible to look at, as its end shows it.
    func expectChecks() {
        let device = devices[0]
        if checker.acknowledged.isEmpty == false { checker.expect(.acknowledged, .journal) }
        // What a crowd brought was stamped by nobody here.
        if counters.edits > 0 { checker.expect(.stamp) }
        for reference in device.references.values where !reference.isEmpty {
            guard !reference.isRemoved else {
                checker.expect(.freedJob)
                continue
            }
            checker.expect(.counts, .digest, .summary, .timelineLine)
            if hasGateways { checker.expect(.overlay) }
            for item in reference.itemIDs {
                let item = reference.expected(item)
                checker.expect(item.isRemoved ? .removedItem : .exportedItem)
                if !item.isRemoved { checker.expect(.item) }
                if !item.values.isEmpty { checker.expect(.field, .explainedValue, .shownAtOnce) }
                if !item.remarks.isEmpty { checker.expect(.remark) }
                if !item.conflicts.isEmpty { checker.expect(.conflict) }
            }
        }
    }
}
