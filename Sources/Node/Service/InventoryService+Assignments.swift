import CRDT
import Engine
import HTTPCoding
import Identity
import LocalAPI
import Storage

/// Who is on a job, and who may write.
extension InventoryService {
    func checkThatItWrites() throws {
        guard fleet.membership?.own.role.mayWrite ?? true else {
            throw APIError(
                .notPermitted,
                "The fleet has let this laptop in to look only: whoever changes something does it on another one.")
        }
    }

    func assignment(job text: String) async throws -> JobAssignment {
        try await answering { try await assignment(of: try await resolve(job: text).id) }
    }

    func assign(_ request: AssignmentRequest, job text: String) async throws -> JobAssignment {
        let (on, off) = (request.assign ?? [], request.unassign ?? [])
        guard !on.isEmpty || !off.isEmpty else {
            throw APIError(.invalidValue, "Name the laptops; 'muster fleet list' shows them.")
        }
        return try await answering {
            let job = try await resolve(job: text).id
            let roster = assignments.roster(of: job)
            guard roster.isAssigned || !on.isEmpty else {
                throw APIError(
                    .invalidValue,
                    "Every laptop receives this job; put those on it that are to have it ('muster job assign').")
            }
            try await say(try await words(putting: on, removing: off), of: job, roster)
            return try await assignment(of: job)
        }
    }

    /// Before a job is anything else: so that nobody else hears of it in between.
    func assignNew(_ job: JobID, to devices: [String]) async throws {
        try await say(try await words(putting: devices, removing: []), of: job, assignments.roster(of: job))
    }

    /// Whether this laptop receives a job.
    func membership(of job: JobID) -> JobMembership {
        let roster = assignments.roster(of: job)
        if !roster.isAssigned { return .everybody }
        if roster.includes(fleet.device) { return .on }
        return fleet.membership?.own.role.seesAllJobs ?? false ? .office : .off
    }

    private func words(putting on: [String], removing off: [String]) async throws -> [Assignment.Word] {
        var words: [DeviceID: Assignment.Word] = [:]
        for (names, isOn) in [(on, true), (off, false)] {
            for name in names {
                let device = try await resolve(device: name)
                guard words[device].map({ $0.kind == (isOn ? .on : .off) }) ?? true else {
                    throw APIError(
                        .invalidValue, "'\(name)' is to be put on the job and taken off it; say one of them.")
                }
                words[device] = Assignment.Word(device, isOn: isOn)
            }
        }
        return words.values.sorted { $0.device < $1.device }
    }

    private func say(_ words: [Assignment.Word], of job: JobID, _ roster: JobRoster) async throws {
        var words = words
        // Whoever narrows a job goes on with it, unless they say that they do not.
        if !roster.isAssigned, !words.contains(where: { $0.device == fleet.device }),
            !(fleet.membership?.own.role.seesAllJobs ?? false)
        {
            words.append(Assignment.Word(fleet.device, isOn: true))
        }
        try await assignments.assign(words, to: job, now: nowMilliseconds)
        await replicator.assigned([job])
        await gateway?.assigned()
    }

    private func assignment(of job: JobID) async throws -> JobAssignment {
        let roster = assignments.roster(of: job)
        let known = Dictionary(
            try await fleetDevices().map { ($0.deviceID, $0.name) }, uniquingKeysWith: { first, _ in first })
        var laptops: [JobAssignment.Laptop] = []
        for device in roster.named {
            guard let word = roster.lastWord(about: device) else { continue }
            let signer = word.signer.description
            laptops.append(
                JobAssignment.Laptop(
                    deviceID: device.description, name: known[device.description] ?? nil, isOn: word.isOn,
                    isOwn: device == fleet.device,
                    saidAt: Timestamp(milliseconds: Int64(clamping: word.milliseconds)),
                    saidBy: (known[signer] ?? nil) ?? word.signer.short))
        }
        return JobAssignment(
            isEverybodys: !roster.isAssigned,
            laptops: laptops.sorted { ($0.name ?? "~", $0.deviceID) < ($1.name ?? "~", $1.deviceID) })
    }
}
