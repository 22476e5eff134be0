package import CRDT

extension FleetRole {
    /// Whether it says who is on a job. Its certificate has to say so: no issuer gives a role above its own.
    package var mayAssign: Bool { self == .lead || self == .office }

    /// Whether it receives jobs that it is not on.
    package var seesAllJobs: Bool { self == .office || self == .server }

    /// Whether others take changes from its journals.
    package var mayWrite: Bool { self != .reader && self != .proxy }
}

extension FleetMember {
    /// What it may be told of jobs.
    package var jobAccess: JobAccess {
        JobAccess(
            key.device, seesAllJobs: role.seesAllJobs, isInGrace: standing == .grace, mayWrite: role.mayWrite,
            mayAssign: role.mayAssign)
    }
}
