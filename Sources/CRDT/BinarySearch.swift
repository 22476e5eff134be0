extension Array {
    /// Where the first element stands that fulfils a condition, or `count` if none does; found by halves, so those that do
    /// have to stand behind all that do not.
    @inlinable
    package func partitioningIndex(where isInSecondPart: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isInSecondPart(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
