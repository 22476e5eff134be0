import Timekeeping

/// Microseconds since 1970 at which every test begins in true time.
let trueStart: Int64 = 1_780_000_000_000_000
let second: Int64 = 1_000_000
let minute: Int64 = 60 * second
let hour: Int64 = 60 * minute

/// A laptop whose elapsed clock runs wrong by some parts per million and whose wall clock is wrong altogether.
struct Laptop {
    let name: String
    let partsPerMillion: Int64
    /// The elapsed time when the test begins.
    let elapsedStart: Int64
    var wallError: Int64
    let boot: String
    var clock: CorrectedClock
    /// What was kept for the next start, the newest last, and by how many milliseconds the time has stepped.
    var records: [ClockRecord] = []
    var steps: [Int64] = []

    init(
        _ name: String, wallError: Int64 = 0, partsPerMillion: Int64 = 0, elapsedStart: Int64 = 90 * minute,
        boot: String = "boot", remembered: ClockRecord? = nil
    ) {
        self.name = name
        self.partsPerMillion = partsPerMillion
        self.elapsedStart = elapsedStart
        self.wallError = wallError
        self.boot = boot
        clock = CorrectedClock(
            boot: boot, elapsed: elapsedStart, wall: trueStart + wallError, remembered: remembered)
    }

    /// - Parameter time: true time since the test began.
    func elapsed(_ time: Int64) -> Int64 { elapsedStart + time + time * partsPerMillion / 1_000_000 }

    func wall(_ time: Int64) -> Int64 { trueStart + time + wallError }

    /// Corrected minus true time.
    func error(_ time: Int64) -> Int64 { clock.time(at: elapsed(time)) - trueStart - time }

    func uncertainty(_ time: Int64) -> Int64 { clock.quality(at: elapsed(time)).uncertainty }

    /// Asks a server at a true time; the two ways take as long as is said.
    mutating func askServer(_ time: Int64, there: Int64 = 10_000, back: Int64 = 10_000, serverError: Int64 = 0) {
        let received = trueStart + time + there + serverError
        hear(
            TimeExchange(
                sent: elapsed(time), received: received, answered: received, returned: elapsed(time + there + back)),
            quality: ClockQuality(stratum: 0, uncertainty: 0), from: .server, at: time + there + back)
    }

    /// - Returns: whether the two clocks are settled afterwards, as far as this one can tell.
    @discardableResult
    mutating func ask(_ other: Laptop, _ time: Int64, there: Int64 = 500, back: Int64 = 500) -> Bool {
        let asked = other.elapsed(time + there)
        let received = other.clock.time(at: asked)
        let exchange = TimeExchange(
            sent: elapsed(time), received: received, answered: received, returned: elapsed(time + there + back))
        let quality = other.clock.quality(at: asked)
        hear(exchange, quality: quality, from: .peer(other.name), at: time + there + back)
        return clock.isSettled(with: exchange, quality: quality, at: elapsed(time + there + back))
    }

    /// What it has written goes out to others.
    mutating func show() {
        if let record = clock.onShown() { records.append(record) }
    }

    var isShown: Bool { clock.quality(at: elapsedStart).isShown }

    mutating func hear(_ exchange: TimeExchange, quality: ClockQuality, from source: TimeSource, at time: Int64) {
        let update = clock.hear(exchange, quality: quality, from: source, at: elapsed(time), wall: wall(time))
        if let step = update.stepMilliseconds { steps.append(step) }
        if let record = update.record { records.append(record) }
    }

    /// What the next start finds.
    var record: ClockRecord? { records.last ?? clock.initialRecord }
}

func times(from start: Int64, to end: Int64, every period: Int64) -> [Int64] {
    (0..<(end - start) / period).map { start + $0 * period }
}
