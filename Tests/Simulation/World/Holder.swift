import Storage

/// Somebody with a store, and what the reference knows of it: a laptop, or the office.
class Holder: CustomStringConvertible {
    let description: String
    var store: Store
    var reference = Reference()
    /// Changes since everything that it holds was last looked at.
    var changesSinceLook = 0

    init(_ description: String, store: Store) {
        self.description = description
        self.store = store
    }
}
