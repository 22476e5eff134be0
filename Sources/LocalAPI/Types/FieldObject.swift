package import CRDT
import HTTPCoding

extension Dictionary where Key == String {
    /// An object of the API's JSON, keyed by field names.
    ///
    /// Names are compared by bytes, keys of an object by canonical equivalence: of several names that only their
    /// spelling tells apart, the first in byte order is the key itself, and the others are percent-encoded, so that
    /// no field is hidden.
    package init(fields: some Sequence<(FieldName, Value)>) {
        self.init()
        for (name, value) in fields.sorted(by: { $0.0 < $1.0 }) {
            var key = name.text
            if self[key] != nil { key = PercentCoding.encode(key) }
            while self[key] != nil { key += "'" }
            self[key] = value
        }
    }
}
