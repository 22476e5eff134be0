import Glibc

/// How long a server wants to be left alone (RFC 9110, section 10.2.3): a number of seconds, or a date, which is
/// taken from the server's own time, so that no clock of this device matters.
enum RetryAfter {
    /// - Parameter answered: when it answered, in seconds since 1970 by its own clock; nil when it does not say.
    /// - Returns: milliseconds, 0 for a date that has passed; nil for what is neither.
    static func milliseconds(_ text: String, answered: Int64?) -> UInt64? {
        if let seconds = UInt64(text) { return min(seconds, 1 << 32) * 1_000 }
        guard let answered, let date = seconds(of: text) else { return nil }
        return UInt64(min(date - min(answered, date), 1 << 32)) * 1_000
    }

    /// Seconds since 1970 of a date like `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func seconds(of date: String) -> Int64? {
        let words = date.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: words[2]),
            let day = Int32(words[1]), (1...31).contains(day), let year = Int32(words[3]), (1970...9999).contains(year)
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int32($0) }
        guard time.count == 3, time.allSatisfy({ (0...60).contains($0) }) else { return nil }
        var parts = tm()
        parts.tm_year = year - 1900
        parts.tm_mon = Int32(month)
        parts.tm_mday = day
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (time[0], time[1], time[2])
        return Int64(timegm(&parts))
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
