import Replication
import Timekeeping

extension WirePong {
    init(number: UInt64, received: Int64, answered: Int64, quality: ClockQuality) throws {
        guard quality.stratum <= ClockQuality.unsynchronisedStratum, quality.uncertainty >= 0 else {
            throw WireFormatError.clockQuality
        }
        self.number = number
        self.received = received
        self.answered = answered
        stratum = UInt32(quality.stratum)
        uncertainty = UInt64(quality.uncertainty)
        floor = quality.floor
        implausible = !quality.isPlausible
    }

    func message() throws -> Message {
        guard let stratum = UInt8(exactly: stratum), stratum <= ClockQuality.unsynchronisedStratum,
            uncertainty <= 1 << 62
        else { throw WireFormatError.clockQuality }
        let quality = ClockQuality(
            stratum: stratum, uncertainty: Int64(uncertainty), floor: floor, isPlausible: !implausible)
        return .pong(number, received: received, answered: answered, quality)
    }
}
