import Authorship
import CRDT
import CoreMetrics
import Logging
import Replication
import Storage
import Timekeeping

/// Carries out what the mesh wants, in its order.
extension Replicator {
    func perform(_ directives: [LinkDirective]) {
        for directive in directives { perform(directive) }
        finish(directives)
    }

    func perform(_ directives: [GreetingDirective]) {
        for directive in directives { perform(directive) }
        finish(directives)
    }

    func perform(_ directives: [StreamDirective]) async {
        for directive in directives { await perform(directive) }
        finish(directives)
    }

    func perform(_ directives: [SearchDirective]) async {
        for directive in directives { await perform(directive) }
        finish(directives)
    }

    func perform(_ directives: [UpkeepDirective]) async {
        for directive in directives { await perform(directive) }
        finish(directives)
    }

    func perform(_ directives: [MessageDirective]) async {
        for directive in directives { await perform(directive) }
        finish(directives)
    }

    private func finish(_ directives: [some LinkDirecting]) {
        // Peers get what was just committed before anything else that waits for the same commit.
        var last: LinkID?
        for case .send(_, let link) in directives.lazy.compactMap(\.onLink) where link != last {
            links?.flush(link)
            last = link
        }
        scheduleTimer()
    }

    private func perform(_ directive: LinkDirective) {
        switch directive {
        case .send(let message, let link):
            counters.sent(message)
            links?.send(withoutKnownAuthor(message, to: link), on: link)
        case .close(let link, let reason): close(link, reason)
        }
    }

    /// A journal's author is told once on each link, with the first run.
    private func withoutKnownAuthor(_ message: Message, to link: LinkID) -> Message {
        guard case .delta(let job, var segment, let pushed) = message, let author = segment.author,
            remotes[link]?.told.insert(author) == false
        else { return message }
        segment.author = nil
        return .delta(job: job, segment, pushed: pushed)
    }

    private func perform(_ directive: GreetingDirective) {
        switch directive {
        case .link(let directive): perform(directive)
        case .established(let link, let hello): established(link, hello)
        }
    }

    private func perform(_ directive: StreamDirective) async {
        switch directive {
        case .link(let directive): perform(directive)
        case .load(let job, let replica, let from, let maximumBytes, let link):
            let segment = try? await store.segment(of: replica, job: job, from: from, maximumBytes: maximumBytes)
            await perform(mesh.onLoaded(segment, job: job, replica: replica, asked: from, for: link, now: now))
        }
    }

    func perform(_ directive: SearchDirective) async {
        switch directive {
        case .link(let directive): perform(directive)
        case .lookUp(let job, let replica, let sequence):
            let answer = await probeAnswer(of: replica, in: job, at: sequence)
            await perform(mesh.onLookedUp(answer, job: job, replica: replica, now: now))
        case .checkOwnJournal(let job, let claimed, let link): await checkOwnJournal(of: job, claimed, from: link)
        case .checkProof(let job, let segment, let link): await checkProof(of: job, segment, from: link)
        case .checkHolding(let job, let entry, let link): await checkHolding(of: job, entry, from: link)
        case .noteAltered(let job, let link):
            noteForgery(by: link, "A piece of a journal is not what its author has signed.", of: job)
        }
    }

    func perform(_ directive: RenewalDirective) async {
        switch directive {
        case .renewReplica(let former, let reason): await renew(former, reason)
        case .proofIgnored(let link, let reason): note(.proofIgnored, "\(remotes[link]?.address ?? ""): \(reason)")
        }
    }

    private func perform(_ directive: UpkeepDirective) async {
        switch directive {
        case .search(let directive): await perform(directive)
        case .renewal(let directive): await perform(directive)
        }
    }

    private func perform(_ directive: MessageDirective) async {
        switch directive {
        case .search(let directive): await perform(directive)
        case .stream(let directive): await perform(directive)
        case .greeting(let directive): perform(directive)
        case .proofIgnored(let link, let reason): await perform(RenewalDirective.proofIgnored(link, reason: reason))
        case .renewDevice(let reason): await renew(nil, reason)
        case .persist(let job, let segment, let link):
            ingestQueue.add(IngestQueue.Run(job: job, segment: segment, link: link))
            ingestNext()
        case .answerProbe(let job, let replica, let sequence, let link):
            let answer = await probeAnswer(of: replica, in: job, at: sequence)
            perform([LinkDirective.send(.probeAnswer(job: job, replica: replica, answer), on: link)])
        case .adoptBranch(let job, let segment, let keep, let link):
            await adopt(segment, job: job, after: keep, from: link)
        case .takeRemoval(let job, let removal, let link):
            if await !takeRemoval(removal, of: job, from: link) { mesh.onRemovalFailed(job, from: link) }
        case .noteRefusedEnd(let job, let link): noteRefusedEnd(of: job, from: link)
        case .answerPing(let number, let received, let link):
            links?.send(clock.pong(number, received: received), on: link)
        case .learnTime(let exchange, let quality, let device, let link):
            await learn(
                TimeSample(exchange: exchange, quality: quality, source: .peer(device.description)), on: link)
        case .tellRevocations(let link): tellRevocations(to: link)
        case .learnRevocations(let entries, let link): await learnRevocations(entries, from: link)
        case .learnAssignments(let statements, let link): await learnAssignments(statements, from: link)
        case .recognised(let link, let device):
            if let dialled = remotes[link]?.dialled { plan.onRecognised(dialled, device: device) }
        case .report(let job, let number, let link):
            // In a task of its own: adding up a large job must not hold up what this peer sends.
            machine.begin { await self.answer(job, number: number, to: link) }
        case .reported(let report, let link): reports.arrived(report, from: link)
        }
    }

    private func probeAnswer(of replica: ReplicaID, in job: JobID, at sequence: UInt64) async -> ProbeAnswer {
        let found = try? await store.boundary(of: replica, job: job, at: sequence)
        return ProbeAnswer(sequence: sequence, boundary: found?.head, changeHash: found?.changeHash ?? 0)
    }
}

/// The directives that take more than a line.
extension Replicator {
    func close(_ link: LinkID, _ reason: String) {
        // Not the address's fault, and not worth another try: this laptop found itself.
        if let dialled = remotes[link]?.dialled, reason == Mesh.ownDeviceReason { plan.onSelf(dialled) }
        if reason == Mesh.silenceReason { return links?.abandon(link, reason: reason) ?? () }
        links?.send(.goodbye(reason), on: link)
        links?.close(link, reason: reason)
    }

    private func established(_ link: LinkID, _ hello: Hello) {
        logger.info(
            "peer connected",
            metadata: [
                "link": "\(link)", "device": "\(hello.device.short)", "name": "\(hello.name)",
                "remote": "\(remotes[link]?.address ?? "")",
            ])
        counters.linksOpened.increment()
        remotes[link]?.isEstablished = true
        remotes[link]?.peer = hello
        fleet?.met(hello.device, name: hello.name)
        links?.established(link)
        // The power may go before the link does.
        if let first = mesh.farewell(link) { note(first) }
        if let dialled = remotes[link]?.dialled { plan.onEstablished(dialled, device: hello.device, now: now) }
        peersChanged?()
    }

    private func checkOwnJournal(of job: JobID, _ claimed: VersionVector.Entry, from link: LinkID) async {
        do {
            guard try await store.isOwnFuture(claimed, of: job) else { return perform(noteRenewal()) }
        } catch {
            logger.error("the own journal could not be read", metadata: ["job": "\(job)", "error": "\(error)"])
        }
        perform(mesh.onOwnClaim(claimed, of: job, from: link, now: now))
    }

    private func checkProof(of job: JobID, _ segment: JournalSegment, from link: LinkID) async {
        let shown = VersionVector.Entry(replica: segment.replica, head: segment.head)
        do {
            guard try await store.hasSigned(segment, of: job) else {
                let reason = "What was shown as this laptop's own work was not signed by it."
                noteForgery(by: link, reason, of: job)
                return close(link, reason)
            }
            guard try await store.isOwnFuture(shown, of: job) else { return perform(noteRenewal()) }
        } catch {
            // A name too many costs a few bytes in each job, one that two disks use costs work.
            logger.error("the own journal could not be read", metadata: ["job": "\(job)", "error": "\(error)"])
        }
        await perform(mesh.onOwnFuture(shown, of: job, from: link, now: now))
    }

    /// - Parameter former: the name that is in doubt; nil for the device's. Who bears another one by now keeps that.
    func renew(_ former: ReplicaID?, _ reason: String) async {
        var generator = machine.generator
        do {
            guard let former else { return try await takeNewKey(reason: reason) }
            if try await store.renewReplica(former, using: &generator) {
                logger.warning("this store becomes a new replica", metadata: ["reason": "\(reason)"])
            }
            perform(noteRenewal())
        } catch {
            logger.error("the store could not be renewed", metadata: ["error": "\(error)"])
            mesh.onRenewalFailed(now: now)
            scheduleTimer()
        }
    }

    /// The store may have got another name by what it was told, also if nothing else came of that.
    func noteRenewal() -> [LinkDirective] {
        let identity = store.identity
        guard identity.replica != mesh.replica || identity.device != mesh.device else { return [] }
        return mesh.onRenewed(device: identity.device, replica: identity.replica, now: now)
    }

    /// - Parameter link: nil for the server.
    func adopt(_ segment: JournalSegment, job: JobID, after keep: UInt64, from link: LinkID?) async {
        // Anybody can make another branch of the channel, and sign that with a key of their own; a laptop's has the key that was judged
        // when its journal was first taken.
        if segment.replica == .channel, await !unvouched(among: [segment]).isEmpty {
            return await perform(
                mesh.onBranchAdopted(nil, job: job, replica: segment.replica, reissued: nil, now: now))
        }
        var generator = machine.generator
        do {
            let adopted = try await store.adoptBranch(
                segment, job: job, after: keep, now: receiveTime, using: &generator)
            logger.warning(
                "a forked journal was settled",
                metadata: ["job": "\(job)", "replica": "\(segment.replica)", "reissued": "\(adopted.reissued != nil)"])
            // What was committed to this journal before, or shifted in it by a step, while it was this store's, may not be
            // there any more.
            await tellCommitted()
            await untilStepIsTold()
            var directives = [SearchDirective](noteRenewal())
            directives += mesh.onBranchAdopted(
                adopted.head, job: job, replica: segment.replica, reissued: adopted.reissued?.segment,
                order: adopted.order, now: now)
            advanced(job)
            await perform(directives)
            if let ended = adopted.ended { await jobEnded(job, ended) }
        } catch {
            logger.error("a forked journal could not be settled", metadata: ["error": "\(error)"])
            if let error = error as? StoreError, error.code == .falseBranch {
                noteForgery(by: link, error.description, of: job)
            }
            perform(noteRenewal())
            await perform(mesh.onBranchAdopted(nil, job: job, replica: segment.replica, reissued: nil, now: now))
        }
    }

    private func answer(_ job: JobID, number: UInt64, to link: LinkID) async {
        let digest = try? await store.digest(of: job)
        let answer = JobDigestReport(
            job: job, number: number, vector: digest?.vector ?? VersionVector(),
            digest: digest.map { $0.text.hexadecimalBytes } ?? [])
        links?.send(.report(answer), on: link)
        mesh.onReportSent(to: link)
    }
}

extension String {
    /// The bytes of an even number of hexadecimal digits.
    fileprivate var hexadecimalBytes: [UInt8] {
        let digits = Array(utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        }
    }
}
