package import CRDT

/// What the mesh knows, for people.
package struct LinkOverview: Hashable, Sendable {
    /// The connection; `overview` lists them ascending.
    package let link: LinkID
    /// What the other end said of itself in its hello.
    package let peer: Hello
    /// Whether this device dialled; false for a connection that came in.
    package let isDialled: Bool
    /// Transforms that this device holds and the peer has not acknowledged.
    package let behind: UInt64
    /// Transforms that the peer has announced and this device lacks.
    package let ahead: UInt64
    /// How long the last answered ping took; nil before the first answer.
    package let roundTripMilliseconds: UInt64?
    /// What came since the link was opened.
    package let received: TransformCounts
    /// When the last message came, by the mesh's clock, in milliseconds; at first when the link was opened.
    package let lastHeard: UInt64
}

/// What is known of a peer when its link ends.
package struct Farewell: Sendable {
    /// Its hello, with the name that people know it by.
    package let peer: Hello
    /// How far it holds each job, as far as that is known.
    package let jobs: [(job: JobID, vector: VersionVector)]
}

extension Mesh {
    /// The established links, the oldest first.
    package func overview() -> [LinkOverview] {
        establishedLinks.compactMap { id in
            guard let link = links[id], let hello = link.hello else { return nil }
            // Of a job that has yet to be compared at least one transform differs, as far as is known.
            var behind = UInt64(link.comparison.unknownCount)
            var ahead = behind
            for job in link.jobs.keys {
                let gap = difference(of: job, with: link)
                behind += isBarred(from: job, id) ? 0 : gap.behind
                ahead += gap.ahead
            }
            return LinkOverview(
                link: id, peer: hello, isDialled: link.isDialled, behind: behind, ahead: ahead,
                roundTripMilliseconds: link.roundTripMilliseconds, received: link.received, lastHeard: link.lastHeard)
        }
    }

    /// The devices at the other ends of the established links, in their order.
    package var connectedDevices: [DeviceID] {
        establishedLinks.compactMap { links[$0]?.hello?.device }
    }

    /// How many transforms of one job a peer lacks, and how many it has that this device lacks, as far as is known.
    package func apart(_ link: LinkID, job: JobID) -> (behind: UInt64, ahead: UInt64) {
        guard let known = links[link], known.jobs[job] != nil || !known.comparison.isEqual(job) else { return (0, 0) }
        let gap = difference(of: job, with: known)
        return (isBarred(from: job, link) ? 0 : gap.behind, gap.ahead)
    }

    /// Who is at the other end of a link, and how far it is known to hold each job.
    package func farewell(_ link: LinkID) -> Farewell? {
        guard let known = links[link], known.isEstablished, let hello = known.hello else { return nil }
        let held = jobs.keys.sorted().compactMap { job -> (job: JobID, vector: VersionVector)? in
            if let looked = known.jobs[job] { return (job, looked.peer) }
            return isHeldAlike(job, by: link) ? (job, vector(of: job)) : nil
        }
        return Farewell(peer: hello, jobs: held)
    }

    /// What this device holds durably.
    package func vector(of job: JobID) -> VersionVector {
        jobs[job]?.vector ?? VersionVector()
    }

    private func difference(of job: JobID, with link: MeshLink) -> (behind: UInt64, ahead: UInt64) {
        let own = jobs[job]?.vector ?? VersionVector()
        let peer = link.jobs[job]?.peer ?? VersionVector()
        var behind: UInt64 = 0
        var ahead: UInt64 = 0
        for entry in own.entries {
            behind += entry.head.sequence - min(entry.head.sequence, peer[entry.replica].sequence)
        }
        for entry in peer.entries {
            ahead += entry.head.sequence - min(entry.head.sequence, own[entry.replica].sequence)
        }
        return (behind, ahead)
    }
}
