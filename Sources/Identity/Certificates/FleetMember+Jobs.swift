package import CRDT

extension FleetRole {
    /// Whether it says who is on a job. Its certificate has to say so: no issuer gives a role above its own.
    package var mayAssign: Bool { self == .lead || self == .office }

    /// Whether it receives jobs that it is not on.
    package var seesAllJobs: Bool { self == .office || self == .server }

    /// Whether others take changes from its journals.
    package var mayWrite: Bool { self != .reader && self != .proxy }

    /// What a laptop of this role may be told of jobs.
    package func jobAccess(of device: DeviceID, isInGrace: Bool) -> JobAccess {
        JobAccess(
            device, seesAllJobs: seesAllJobs, isInGrace: isInGrace, mayWrite: mayWrite, mayAssign: mayAssign)
    }
}

extension FleetMember {
    /// What it may be told of jobs.
    package var jobAccess: JobAccess {
        role.jobAccess(of: key.device, isInGrace: standing == .grace)
    }
}
