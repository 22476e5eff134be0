import HTTPCoding
import LocalAPI
import Synchronization

/// The clock and the doctor: of a laptop that is well, or of one that is alone and is not.
extension FakeService {
    static let clockStatus = ClockStatus(
        source: .peer, isSynchronised: true, driftMilliseconds: 10_800_012.4, uncertaintyMilliseconds: 1.25)

    func clockReport() async throws -> ClockReport {
        guard !isAlone.withLock({ $0 }) else {
            return ClockReport(source: .none, isSynchronised: false, isShared: false, time: Self.moment)
        }
        let future = FutureWork(
            job: Self.jobID, jobName: "Smith, 12 Elm Street", by: Self.otherReplicaID, byName: "bert-laptop",
            changes: 3,
            latest: Timestamp(milliseconds: Self.moment.milliseconds + 3_600_000))
        return ClockReport(
            source: .peer, isSynchronised: true, isShared: true, stratum: 2, driftMilliseconds: 10_800_012.4,
            uncertaintyMilliseconds: 1.25, ageSeconds: 12.5, time: Self.moment, future: [future])
    }

    func doctor() async throws -> DoctorReport {
        let isUnwell = isAlone.withLock { $0 }
        return DoctorReport(checks: [
            HealthCheck("discovery", .ok, "on, through avahi"),
            HealthCheck(
                "clock", .warning, "unsynchronised: it goes by this laptop's own",
                remedy: "connect the laptop, or one that it meets, to the server"),
            HealthCheck(
                "disk", isUnwell ? .failed : .ok, isUnwell ? "12.0 MB free at /var/lib/muster" : "81.2 GB free",
                remedy: isUnwell ? "make room there" : nil),
        ])
    }
}
