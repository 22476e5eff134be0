import CRDT
import Replication
import Storage
import Timekeeping

/// Laptops tell each other the time and ask the server: as the daemon does.
extension World {
    func answerPing(_ number: UInt64, received: UInt64, by device: Device) -> Message {
        let elapsed = device.clock.elapsed(at: now)
        return .pong(
            number, received: device.time.time(ofPingAt: received, answeredAt: elapsed),
            answered: device.time.time(at: elapsed),
            device.time.quality(at: elapsed))
    }

    /// A peer has answered a ping.
    func learn(
        _ exchange: TimeExchange, _ quality: ClockQuality, from peer: DeviceID, on link: LinkID, by device: Device
    ) async throws {
        let isSettled = try await learn(exchange, quality, from: .peer(peer.description), by: device)
        let elapsed = device.elapsedMilliseconds(at: now)
        guard network.place(of: link) != nil, !device.exposedLinks.contains(link) else { return }
        guard isSettled || !device.mesh.isPatient(with: link, now: elapsed) else {
            return try await perform(device.mesh.onTimeUnsettled(link, now: elapsed), by: device)
        }
        device.exposedLinks.insert(link)
        do {
            _ = try await device.store.beginExposure()
            device.unseen = [:]
            try await perform(device.mesh.onTimeLearned(link, now: elapsed), by: device)
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
            if let place = network.place(of: link) { close(place.connection) }
        }
    }

    func endExposure(of link: LinkID, by device: Device) {
        guard device.exposedLinks.remove(link) != nil, device.exposedLinks.isEmpty, !device.isExposedToOffice else {
            return
        }
        device.store.endExposure()
    }

    private func learn(
        _ exchange: TimeExchange, _ quality: ClockQuality, from source: TimeSource, by device: Device
    ) async throws -> Bool {
        let elapsed = device.clock.elapsed(at: now)
        let before = device.time
        let lesson = device.time.hear(
            exchange, quality: quality, from: source, at: elapsed, wall: device.clock.wall(at: now))
        try checker.learned(device, now: now)
        do {
            if let step = lesson.stepMilliseconds {
                narrate?("\(now) device \(device.index) learns the time from \(source), \(step) ms")
                counters.count(.learnedTime)
                try await restamp(by: step, remembering: lesson.record, on: device)
            } else if let record = lesson.record {
                try await device.store.keep(record)
            }
        } catch let error as StoreError where error.code == .diskFull {
            counters.count(.refusedWrite)
            // The step is not taken: the time is learned again.
            if lesson.stepMilliseconds != nil {
                device.time = before
                return false
            }
        }
        return lesson.isSettled
    }

    private func restamp(by step: Int64, remembering record: ClockRecord?, on device: Device) async throws {
        let step = ClockStep(milliseconds: step, now: device.receiveTime(at: now), record: record)
        let restamped = try await device.store.restamp(taking: { TakenStep(step) })
        let elapsed = device.elapsedMilliseconds(at: now)
        if !restamped.isEmpty, step.milliseconds != 0 { counters.count(.restamped) }
        if restamped.count > 1, step.milliseconds != 0 { counters.count(.restampedSeveralJobs) }
        for journal in restamped {
            record_(journal, device)
            advanced(device, journal.job)
            try await perform(
                device.mesh.onRestamped(
                    job: journal.job, replica: journal.replica, head: journal.head, now: elapsed),
                by: device)
        }
        try await checker.restamped(device, now: now)
    }

    private func record_(_ journal: Restamped, _ device: Device) {
        record("restamp", device, journal.head.digest)
    }

    // MARK: The server

    /// Asks the server for the time and settles the job with it, if it is reached.
    func askServer(by device: Device) async throws {
        add(.askServer, after: Int64.random(in: 2_000_000...40_000_000, using: &device.generator), to: device)
        guard device.reachesServer else { return }
        counters.count(.serverTime)
        let sent = device.clock.elapsed(at: now)
        let there = Int64.random(in: 1_000...80_000, using: &device.generator)
        let back = Int64.random(in: 1_000...80_000, using: &device.generator)
        let received = VirtualClock.epoch + now + there
        add(.serverAnswer(sent: sent, received: received), after: there + back, to: device)
    }

    func serverAnswered(sent: Int64, received: Int64, to device: Device) async throws {
        let exchange = TimeExchange(
            sent: sent, received: received, answered: received, returned: device.clock.elapsed(at: now))
        _ = try await learn(exchange, ClockQuality(stratum: 0, uncertainty: 0), from: .server, by: device)
        try await serverReached(by: device)
        try await synchronise(by: device)
    }
}
