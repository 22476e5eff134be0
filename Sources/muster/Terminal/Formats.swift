import Glibc
import HTTPCoding

/// Numbers and times for people.
enum Formats {
    /// With a comma every three digits.
    static func count(_ value: Int) -> String {
        let digits = Array(String(value.magnitude))
        var result = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
            result.append(digit)
        }
        return result
    }

    /// In the unit that leaves it below a thousand.
    static func bytes(_ count: Int) -> String {
        let units = ["B", "kB", "MB", "GB", "TB"]
        var (value, unit) = (Double(count), 0)
        while value >= 1_000, unit < units.count - 1 { (value, unit) = (value / 1_000, unit + 1) }
        return unit == 0 ? "\(count) B" : "\(decimal(value)) \(units[unit])"
    }

    /// With a comma every three digits and a number of decimals.
    static func decimal(_ value: Double, places: Int = 1) -> String {
        guard value.magnitude < 1e15 else { return "very many" }
        let scale = places == 0 ? 1.0 : places == 1 ? 10 : 100
        let scaled = Int((value * scale).rounded())
        let (whole, rest) = scaled.magnitude.quotientAndRemainder(dividingBy: UInt(scale))
        let sign = scaled < 0 ? "-" : ""
        guard places > 0 else { return sign + count(Int(whole)) }
        let digits = String(rest)
        return sign + count(Int(whole)) + "." + String(repeating: "0", count: places - digits.count) + digits
    }

    /// A word of a program as people write it: `serverBusy` is `server busy`.
    static func words(_ name: String) -> String {
        name.reduce(into: "") { words, letter in words += letter.isUppercase ? " \(letter.lowercased())" : "\(letter)" }
    }

    /// Whole when it is, with up to three decimals when not.
    static func quantity(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e15 ? count(Int(value)) : String(value)
    }

    static func milliseconds(_ value: Double?) -> String {
        value.map { "\(decimal($0, places: $0 < 10 ? 2 : 0)) ms" } ?? "–"
    }

    /// A clock's error, in the unit that suits it: `+3.4 ± 0.8 ms`, `−2 days 0 h`.
    static func offset(_ milliseconds: Double, uncertainty: Double? = nil) -> String {
        let sign = milliseconds < 0 ? "−" : "+"
        guard milliseconds.magnitude >= 60_000 else {
            let around = uncertainty.map { " ± \(decimal($0))" } ?? ""
            return "\(sign)\(decimal(milliseconds.magnitude))\(around) ms"
        }
        return sign + duration(seconds: milliseconds.magnitude / 1000)
    }

    /// The two greatest units: `45 s`, `3 min 5 s`, `2 h 1 min`, `31 d 4 h`.
    static func duration(seconds: Double) -> String {
        let whole = Int(min(max(0, seconds), 1e12).rounded())
        switch whole {
        case ..<60: return "\(whole) s"
        case ..<3600: return "\(whole / 60) min \(whole % 60) s"
        case ..<86_400: return "\(whole / 3600) h \(whole / 60 % 60) min"
        default: return "\(count(whole / 86_400)) d \(whole / 3600 % 24) h"
        }
    }

    /// Local time: the clock today, day and clock this year, the date before.
    static func time(_ time: Timestamp?, now: Timestamp = .now) -> String {
        guard let time, let then = local(time), let today = local(now) else { return "–" }
        let clock = "\(two(then.tm_hour)):\(two(then.tm_min))"
        if then.tm_year == today.tm_year, then.tm_yday == today.tm_yday { return "\(clock):\(two(then.tm_sec))" }
        let day = "\(two(then.tm_mday)) \(months[Int(then.tm_mon)])"
        return then.tm_year == today.tm_year ? "\(day) \(clock)" : "\(day) \(then.tm_year + 1900)"
    }

    /// Day, clock and seconds in local time.
    static func exactTime(_ time: Timestamp) -> String {
        guard let then = local(time) else { return time.description }
        let date = "\(then.tm_year + 1900)-\(two(then.tm_mon + 1))-\(two(then.tm_mday))"
        return "\(date) \(two(then.tm_hour)):\(two(then.tm_min)):\(two(then.tm_sec))"
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func local(_ time: Timestamp) -> tm? {
        var seconds = time_t(time.milliseconds / 1000)
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? nil : parts
    }

    private static func two(_ value: Int32) -> String {
        value < 10 ? "0\(value)" : "\(value)"
    }
}

extension Timestamp {
    /// The device's clock: only to tell "today" from other days.
    static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
