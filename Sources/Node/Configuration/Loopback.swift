/// This machine, by whatever name it calls itself.
enum Loopback {
    /// - Parameter host: a name, or an address without brackets.
    static func holds(_ host: String) -> Bool {
        host == "localhost" || host == "::1"
            || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
    }
}
