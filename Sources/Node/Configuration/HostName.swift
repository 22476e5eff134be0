extension String {
    /// The beginning, in so many bytes of UTF-8 at most; no character is cut.
    func shortened(toBytes limit: Int) -> String {
        var short = self
        while short.utf8.count > limit { short.removeLast() }
        return short
    }
}
