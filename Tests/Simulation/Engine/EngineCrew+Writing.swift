import CRDT
import Engine
import Inventory
import Storage
import Timekeeping

/// What people write: one thing after another, much at once, and a spreadsheet's thousand rows.
extension EngineCrew {
    /// A person has just opened the lid: the laptop learns the time while they write.
    func writeMuch(by laptop: Laptop) {
        for _ in 0..<6 {
            let wait = Int64.random(in: 0...2_000_000, using: &generator)
            begin(on: laptop) { [self] in
                await scheduler.pass(microseconds: wait)
                write(by: laptop)
            }
        }
    }

    /// The very moment in which a clock may step.
    func writeWhileTimeIsLearned(by laptop: Laptop) {
        guard !arePeopleDone, laptop.isAwake, !laptop.engine.clock.now.isSynchronised else { return }
        write(by: laptop)
        write(by: laptop)
    }

    /// Half of it in one job, so that people write on top of each other.
    func write(by laptop: Laptop) { write(by: laptop, in: generator.oneIn(2) ? jobs[0] : generator.pick(jobs)) }

    func write(by laptop: Laptop, in job: JobID) {
        guard laptop.isAwake else { return }
        writes += 1
        let item = ItemID(UInt128(1_000 + Int.random(in: 0..<6, using: &generator)))
        let text = "e\(writes) by \(laptop.index)"
        let edits = edits(of: item, saying: text)
        begin(on: laptop) { [self] in
            do {
                let begun = server.now.milliseconds
                let isLie = laptop.lieMilliseconds > 0
                let doubt = laptop.engine.clock.overview.uncertainty
                let wasSynchronised = laptop.engine.clock.now.isSynchronised
                let machine = laptop.machine
                let before = (shownCount: machine.shownCount, boot: machine.bootID)
                let clock = laptop.engine.clock
                let earliest = clock.now.milliseconds
                guard let stamp = try await laptop.write(edits, in: job) else { return }
                scheduler.tell(
                    "laptop \(laptop.index) has written \(text) on \(item) of \(job)\(wasSynchronised ? "" : ", without the time")"
                )
                counters[.edits] += 1
                noteOutsider(laptop, in: job)
                // Who fell asleep meanwhile may have stamped it hours later.
                let ended = server.now.milliseconds
                let isLate = ended > begun + UInt64(Checker.toleranceMilliseconds) / 2
                // A stamp that had to follow what its item shows says nothing of its time.
                let isPushed = stamp.milliseconds < earliest || stamp.milliseconds > clock.now.milliseconds
                let isKnown = wasSynchronised || laptop.engine.clock.now.isSynchronised
                written[job, default: [:]][text] = Written(
                    laptop: laptop.index, begun: begun,
                    doubt: UInt64(doubt / 1_000),
                    isSynchronised: wasSynchronised,
                    unseen: isKnown || isLate || isPushed || isLie ? nil : before)
            } catch is EditRefusal {
                // A remark on an item that is not there yet.
            } catch let error as StoreError {
                refused.insert(text)
                throw error
            }
        }
    }

    /// Several write on one laptop while its disk is busy: all of it becomes durable in one commit.
    func writeTogether(by laptop: Laptop) {
        guard laptop.isAwake, !laptop.witness.isHolding else { return }
        let (store, witness) = (laptop.engine.store, laptop.witness)
        scheduler.tell("the disk of laptop \(laptop.index) is busy")
        store.holdWrites()
        witness.isHolding = true
        for _ in 0..<Int.random(in: 2...6, using: &generator) { write(by: laptop) }
        let wait = Int64.random(in: 1_000...50_000, using: &generator)
        Task(executorPreference: scheduler) { [self] in
            await scheduler.pass(microseconds: wait)
            if store.waitingWriteCount > 1 { counters[.sharedCommits] += 1 }
            store.releaseWrites()
            witness.isHolding = false
        }
    }

    /// Of each something is `text`, which nobody else writes.
    private func edits(of item: ItemID, saying text: String) -> [Edit] {
        if generator.oneIn(25) {
            let field: FieldName = generator.pick(["name", "kind"])
            return [.put(item: .job, fields: [Edit.FieldValue(field: field, value: text)])]
        }
        if generator.oneIn(3) {
            let note = Edit.note(item: item, text: text)
            return generator.oneIn(6) ? [note, .remove(item: item)] : [note]
        }
        var fields = [Edit.FieldValue(field: generator.pick(["room", "name"]), value: text)]
        // What is counted, added up, or looked for.
        for field: FieldName in ["barcode", "quantity", "volumeCubicFeet", "category"] where generator.oneIn(4) {
            let number = Int.random(in: 0..<8, using: &generator)
            fields.append(Edit.FieldValue(field: field, value: OddTexts.text(in: field, number)))
        }
        return [.put(item: item, fields: fields)]
    }

    /// A spreadsheet is imported, in runs that are too long to be pushed.
    private func importRows(_ count: Int, by laptop: Laptop) {
        let job = generator.pick(jobs)
        let first = 10_000 * (writes + 1)
        writes += 1
        counters[.imports] += 1
        scheduler.tell("laptop \(laptop.index) imports \(count) rows into \(job)")
        begin(on: laptop) {
            for start in stride(from: 0, to: count, by: 2_000) {
                let edits = (start..<min(start + 2_000, count)).map { row in
                    Edit.put(
                        item: ItemID(UInt128(first + row)),
                        fields: [Edit.FieldValue(field: "name", value: "row \(first + row) by \(laptop.index)")])
                }
                guard try await laptop.write(edits, in: job) != nil else { return }
            }
        }
    }

    func importMuch(by laptop: Laptop) {
        guard laptop.isAwake, generator.oneIn(15) else { return write(by: laptop) }
        importRows(generator.oneIn(6) ? 10_000 : Int.random(in: 500...2_400, using: &generator), by: laptop)
    }
}
