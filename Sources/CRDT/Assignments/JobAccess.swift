/// What a laptop may be told of jobs: of their changes and vectors, their names, and that there are any.
///
/// It says nothing of what is taken from it: work that it has written is welcome, whether it is on the job or not.
package struct JobAccess: Hashable, Sendable {
    /// The laptop.
    package let device: DeviceID
    /// It is the office's: whoever is on a job, it sees that.
    package let seesAllJobs: Bool
    /// Its certificate has run out lately: it goes on with the jobs that it has, and gets no new ones.
    package let isInGrace: Bool
    /// False for a reader's: it ends no job.
    package let mayWrite: Bool
    /// It says who is on jobs, so it hears who is on any: two of them that say it apart have to agree.
    package let mayAssign: Bool

    /// By default a laptop like any other.
    package init(
        _ device: DeviceID, seesAllJobs: Bool = false, isInGrace: Bool = false, mayWrite: Bool = true,
        mayAssign: Bool = false
    ) {
        self.mayAssign = mayAssign
        self.mayWrite = mayWrite
        self.device = device
        self.seesAllJobs = seesAllJobs
        self.isInGrace = isInGrace
    }

    /// Whether it may be told of a job.
    ///
    /// - Parameter holds: whether it has shown that it holds some of the job.
    package func mayReceive(_ roster: JobRoster, holds: Bool) -> Bool {
        (seesAllJobs || roster.includes(device)) && (!isInGrace || holds)
    }

    /// Whether it may be told who is on a job, though it may not be told of the job itself.
    ///
    /// - Parameter knows: whether it has shown that it knows of the job.
    package func mayHearWords(_ roster: JobRoster, knows: Bool) -> Bool {
        knows || !isInGrace && (mayAssign || roster.concerns(device))
    }
}
