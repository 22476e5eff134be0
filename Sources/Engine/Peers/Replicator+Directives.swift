import CRDT
import Logging
import Replication
import Storage

/// The directives that take more than a line.
extension Replicator {
    func close(_ link: LinkID, _ reason: String) {
        // Not the address's fault, and not worth another try: this laptop found itself.
        if let dialled = remotes[link]?.dialled, reason == Mesh.ownDeviceReason { plan.onSelf(dialled) }
        links?.send(.goodbye(reason), on: link)
        links?.close(link, reason: reason)
    }

    func established(_ link: LinkID, _ hello: Hello) {
        logger.info(
            "peer connected",
            metadata: [
                "link": "\(link)", "device": "\(hello.device.short)", "name": "\(hello.name)",
                "remote": "\(remotes[link]?.address ?? "")",
            ])
        remotes[link]?.isEstablished = true
        links?.established(link)
        // The power may go before the link does.
        if let first = mesh.farewell(link) { note(first) }
        if let dialled = remotes[link]?.dialled { plan.onEstablished(dialled, device: hello.device, now: now) }
    }

    func checkOwnJournal(of job: JobID, _ claimed: VersionVector.Entry, from link: LinkID) async {
        do {
            guard try await store.isOwnFuture(claimed, of: job) else { return await perform(noteRenewal()) }
        } catch {
            // A name too many costs a few bytes in each job, one that two disks use costs work.
            logger.error("the own journal could not be read", metadata: ["job": "\(job)", "error": "\(error)"])
        }
        await perform(mesh.onOwnFuture(claimed, of: job, from: link, now: now))
    }

    /// - Parameter former: the name that is in doubt; nil for the device's. Who bears another one by now keeps that.
    func renew(_ former: ReplicaID?, _ reason: String) async {
        var generator = machine.generator
        do {
            if let former {
                guard try await store.renewReplica(former, using: &generator) else {
                    return await perform(noteRenewal())
                }
            } else {
                try await store.renewDevice(using: &generator)
            }
            logger.warning("this store becomes a new replica", metadata: ["reason": "\(reason)"])
            await perform(noteRenewal())
        } catch {
            logger.error("the store could not be renewed", metadata: ["error": "\(error)"])
            mesh.onRenewalFailed(now: now)
        }
    }

    /// The store may have got another name by what it was told, also if nothing else came of that.
    func noteRenewal() -> [Directive] {
        let identity = store.identity
        guard identity.replica != mesh.replica || identity.device != mesh.device else { return [] }
        return mesh.onRenewed(device: identity.device, replica: identity.replica, now: now)
    }

    func adopt(_ segment: JournalSegment, job: JobID, after keep: UInt64) async {
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
            var directives = noteRenewal()
            directives += mesh.onBranchAdopted(
                adopted.head, job: job, replica: segment.replica, reissued: adopted.reissued?.segment, now: now)
            advanced(job)
            await perform(directives)
            if let ended = adopted.ended { await jobEnded(job, ended) }
        } catch {
            logger.error("a forked journal could not be settled", metadata: ["error": "\(error)"])
            await perform(noteRenewal())
            await perform(mesh.onBranchAdopted(nil, job: job, replica: segment.replica, reissued: nil, now: now))
        }
    }

    func answer(_ job: JobID, number: UInt64, to link: LinkID) async {
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
