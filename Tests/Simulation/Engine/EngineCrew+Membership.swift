import Authorship
import CRDT
import Engine
import Identity
import Replication
import Storage

/// Leads put laptops on jobs and take them off, also where they do not hear of each other.
extension EngineCrew {
    /// What keeps a history with words about jobs from what is not looked at together with them.
    static let facultative: Set<Fault> = [.removal, .copy, .serverSetBack]

    /// How long what the mesh has decided to say may wait behind something that waits for the disk, in microseconds.
    private static let waiting: Int64 = 1_000_000

    var people: [DeviceID] { laptops.map(\.device) + (traitor.map { [$0.device] } ?? []) }

    /// Now and then a lead says something.
    func speak() throws {
        guard let membership, membership.generator.oneIn(5) else { return }
        let lead = laptops[membership.generator.pick(membership.leads)]
        let job = membership.generator.oneIn(2) ? membership.jobs[0] : membership.generator.pick(membership.jobs)
        if membership.generator.oneIn(4) { return try speakApart(of: job) }
        say(words(of: job), of: job, by: lead)
    }

    /// On two sides of a partition, or one after the other; and whoever is taken off may have work that nobody has seen.
    private func speakApart(of job: JobID) throws {
        guard let membership else { return }
        scheduler.tell("everybody is alone")
        for first in laptops.indices {
            for second in 0..<first { network.cut(first, second) }
            if let traitor { network.cut(first, traitor.index) }
        }
        write(by: membership.generator.pick(laptops), in: job)
        scheduler.run(until: scheduler.now + 2_000_000)
        for lead in membership.leads { say(words(of: job), of: job, by: laptops[lead]) }
        for laptop in laptops where membership.generator.oneIn(2) { write(by: laptop, in: job) }
        scheduler.run(until: scheduler.now + Int64.random(in: 0...4_000_000, using: &membership.generator))
        if membership.generator.oneIn(2) { network.heal() }
    }

    private func words(of job: JobID) -> [Assignment.Word] {
        guard let membership else { return [] }
        var words: [Assignment.Word] = []
        for device in people where membership.generator.oneIn(people.count > 2 ? 2 : 1) {
            words.append(Assignment.Word(device, isOn: !membership.generator.oneIn(3)))
        }
        return words
    }

    private func say(_ words: [Assignment.Word], of job: JobID, by lead: Laptop) {
        guard lead.isAwake, !words.isEmpty else { return }
        begin(on: lead) { [self] in
            let former = lead.holder.words[job] ?? SaidWords()
            guard let statement = try await lead.assign(words, to: job) else { return }
            scheduler.tell("laptop \(lead.index) has said of \(job): \(describe(statement))")
            note(statement, former)
        }
    }

    private func describe(_ statement: Assignment) -> String {
        statement.words.map { word in
            let place = people.firstIndex(of: word.device).map { "\($0)" } ?? "?"
            return "\(place) \(word.isOn ? "on" : "off")"
        }.joined(separator: ", ")
    }

    private func note(_ statement: Assignment, _ former: SaidWords) {
        let job = statement.job
        let others = (membership?.said ?? []).filter { $0.job == job && $0.signer != statement.signer }
        if others.contains(where: { other in
            other.words.contains { word in
                !former.all.contains { $0.signer == other.signer && $0.stamp == other.stamp }
                    && statement.words.contains { $0.device == word.device && $0.isOn != word.isOn }
            }
        }) {
            counters[.wordsApart] += 1
        }
        membership?.said.append(statement)
        for word in statement.words {
            let last = former.last[word.device]
            counters[word.isOn ? .assigned : .unassigned] += 1
            if word.isOn, last?.isOn == false { counters[.reassigned] += 1 }
            guard !word.isOn, last?.isOn ?? true, let laptop = laptops.first(where: { $0.device == word.device })
            else { continue }
            let own = laptop.holder.store.identity.replica
            let held = laptop.holder[job].head(of: own).sequence
            if server.holder[job].head(of: own).sequence < held,
                !laptops.contains(where: { $0 !== laptop && $0.holder[job].head(of: own).sequence >= held })
            {
                counters[.takenOffWithWork] += 1
            }
        }
    }

    /// Somebody has written.
    func noteOutsider(_ laptop: Laptop, in job: JobID) {
        guard let words = laptop.holder.words[job], !words.isFor(laptop.device) else { return }
        counters[.outsideEdits] += 1
    }

    // MARK: What is looked at

    /// A laptop is about to send something.
    func lookAt(_ message: Message, from index: Int, to other: MemoryNetwork.Other) throws {
        guard let membership, !message.isGreeting else { return }
        let laptop = laptops[index]
        let holds: Set<JobID>
        if other.laptop < laptops.count {
            holds = Set(laptops[other.laptop].holder.references.filter { !$0.value.isEmpty }.keys)
        } else {
            holds = traitor?.jobsHeardOf ?? []
        }
        let receiver = Checker.Receiver(
            device: other.device, name: other.laptop < laptops.count ? "laptop \(other.laptop)" : "the traitor",
            spokenOf: other.spokenOf, words: other.words, holds: holds,
            seesAllJobs: membership.role(of: other.device).seesAllJobs,
            mayAssign: membership.role(of: other.device).mayAssign)
        try checker.told(
            message, by: laptop.holder, to: receiver,
            knownBefore: laptop.machine.processor.wokeAt < scheduler.now - Self.waiting
                ? scheduler.now - Self.waiting : 0)
    }

    /// All words that anybody of the crew, or the server, knows.
    func allWords(of job: JobID) -> SaidWords {
        var all = SaidWords()
        for witness in witnesses { if let words = witness.holder.words[job] { all.add(words) } }
        return all
    }

    /// Whether a laptop is to have a job in the end.
    func isFor(_ laptop: Laptop, _ job: JobID) -> Bool {
        guard let membership else { return true }
        return membership.role(of: laptop.device).seesAllJobs || allWords(of: job).isFor(laptop.device)
    }

    /// Whether somebody with a store is to hold what was written in a job under a name.
    func isExpected(on holder: Holder) -> (JobID, ReplicaID) -> Bool {
        guard membership != nil, let laptop = laptops.first(where: { $0.holder === holder }) else {
            return { _, _ in true }
        }
        return { [self] job, name in
            // What its disk has lost, and others hold, it does not get back before it writes again.
            isFor(laptop, job) || !hasForks && laptop.names.contains(name)
        }
    }

    /// Which words somebody lacks; nil when all have those that they may have.
    func differenceInWords(of job: JobID) -> String? {
        // Before somebody holds something of a job nobody has to know whom it is for.
        guard membership != nil, !server.holder[job].isEmpty else { return nil }
        let last = allWords(of: job).last
        for laptop in laptops {
            let own = laptop.holder.words[job]?.last ?? [:]
            if own == last { continue }
            if isFor(laptop, job) { return "laptop \(laptop.index) does not know who is on \(job)" }
            // Who was taken off hears of that; whoever else came to something of the job may never show it.
            if last[laptop.device] != nil, !laptop.holder[job].isEmpty {
                return
                    "laptop \(laptop.index), with \(laptop.holder[job].vector.brief), does not know that it is not on \(job)"
            }
        }
        if server.holder.words[job]?.last ?? [:] != last { return "the server does not know who is on \(job)" }
        return nil
    }

    /// A disk loses what came after its backup: what nobody else knows is lost with it.
    func forgetWords(onlyOn laptop: Laptop) {
        let others = witnesses.map(\.holder).filter { $0 !== laptop.holder }
        membership?.said.removeAll { statement in
            var alone = SaidWords()
            alone.add(statement)
            return !others.contains { $0.words[statement.job]?.all.isSuperset(of: alone.all) ?? false }
        }
    }

    /// What leads were told that it is kept is the last word in the end, or has been overtaken.
    func checkWords() throws {
        guard let membership else { return }
        for job in membership.jobs {
            var words = allWords(of: job)
            let last = words.last
            for statement in membership.said where statement.job == job { words.add(statement) }
            guard words.last == last else {
                throw Violation("membership", "what a lead has said of \(job) was acknowledged, and is lost.")
            }
            for laptop in laptops where !last.isEmpty {
                checker.count(isFor(laptop, job) ? .sharedWords : .dismissal)
            }
        }
    }
}

extension Message {
    fileprivate var isGreeting: Bool {
        switch self {
        case .hello, .ping, .pong, .ready, .revocations, .goodbye, .fingerprint, .buckets, .bucketsRequest,
            .summariesRequest:
            true
        default: false
        }
    }
}
