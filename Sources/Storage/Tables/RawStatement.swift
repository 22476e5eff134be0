import CRDT
import GRDB
import GRDBSQLite

/// A prepared statement used through the C API, where every call counts: in the loops, and in what each edit goes through.
///
/// A blob that is bound by its address is not copied: it must live until the statement has run.
struct RawStatement {
    /// What is bound by its value.
    enum Value {
        case number(Int64)
        /// 16 bytes, big-endian.
        case id(UInt128)
        /// 32 bytes, big-endian.
        case digest(JournalDigest)
        /// Bytes that are few, and NULL where there are none.
        case few([UInt8]?)
        case text(String)
        case bytes(ArraySlice<UInt8>)
    }

    private let statement: Statement

    init(_ sql: String, in db: Database) throws {
        statement = try db.cachedStatement(sql: sql)
    }

    private var handle: OpaquePointer { statement.sqliteStatement }

    func bind(_ number: Int64, _ blob: UnsafeRawBufferPointer) throws {
        sqlite3_reset(handle)
        try check(sqlite3_bind_int64(handle, 1, number))
        try check(sqlite3_bind_blob(handle, 2, blob.baseAddress, CInt(blob.count), nil))
    }

    /// The third parameter is copied by SQLite, because the caller's array may move before the statement runs.
    func bind(_ number: Int64, _ blob: UnsafeRawBufferPointer, _ state: [UInt8]) throws {
        try bind(number, blob)
        let code = state.withUnsafeBytes { bytes in
            sqlite3_bind_blob(handle, 3, bytes.baseAddress, CInt(bytes.count), Self.transient)
        }
        try check(code)
    }

    /// Two numbers, then two blobs.
    func bind(
        _ first: Int64, _ second: Int64, _ third: UnsafeRawBufferPointer, _ fourth: UnsafeRawBufferPointer
    ) throws {
        sqlite3_reset(handle)
        try check(sqlite3_bind_int64(handle, 1, first))
        try check(sqlite3_bind_int64(handle, 2, second))
        try check(sqlite3_bind_blob(handle, 3, third.baseAddress, CInt(third.count), nil))
        try check(sqlite3_bind_blob(handle, 4, fourth.baseAddress, CInt(fourth.count), nil))
    }

    /// Runs with these values, in the order of the parameters.
    func run(_ values: Value...) throws {
        try bind(values)
        try run()
    }

    /// What `body` makes of the first row; nil without one.
    func first<Result>(_ values: Value..., body: (Columns) throws -> Result) throws -> Result? {
        try bind(values)
        var result: Result?
        try forEach { columns in
            result = try body(columns)
            return false
        }
        return result
    }

    private func bind(_ values: [Value]) throws {
        sqlite3_reset(handle)
        for (index, value) in values.enumerated() {
            let parameter = CInt(index + 1)
            let code =
                switch value {
                case .number(let number): sqlite3_bind_int64(handle, parameter, number)
                case .id(let id):
                    withUnsafeBytes(of: id.bigEndian) {
                        sqlite3_bind_blob(handle, parameter, $0.baseAddress, CInt($0.count), Self.transient)
                    }
                case .digest(let digest):
                    withUnsafeBytes(of: (digest.high.bigEndian, digest.low.bigEndian)) {
                        sqlite3_bind_blob(handle, parameter, $0.baseAddress, CInt($0.count), Self.transient)
                    }
                case .few(let bytes):
                    if let bytes {
                        bytes.withUnsafeBytes {
                            sqlite3_bind_blob(handle, parameter, $0.baseAddress, CInt($0.count), Self.transient)
                        }
                    } else {
                        sqlite3_bind_null(handle, parameter)
                    }
                case .text(let text):
                    sqlite3_bind_text(handle, parameter, text, CInt(text.utf8.count), Self.transient)
                case .bytes(let bytes):
                    // Without an address it would be NULL.
                    bytes.isEmpty
                        ? sqlite3_bind_zeroblob(handle, parameter, 0)
                        : bytes.withUnsafeBytes {
                            sqlite3_bind_blob64(handle, parameter, $0.baseAddress, UInt64($0.count), Self.transient)
                        }
                }
            try check(code)
        }
    }

    func run() throws {
        let code = sqlite3_step(handle)
        sqlite3_reset(handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw error(code) }
    }

    func firstBlob<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) throws -> Value? {
        var value: Value?
        try forEach { columns in
            value = try body(columns.blob(0))
            return false
        }
        return value
    }

    func forEach(_ body: (Columns) throws -> Bool) throws {
        defer { sqlite3_reset(handle) }
        while true {
            let code = sqlite3_step(handle)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw error(code) }
            guard try body(Columns(handle: handle)) else { return }
        }
    }

    struct Columns {
        fileprivate let handle: OpaquePointer

        /// Zero for NULL.
        func number(_ index: CInt) -> Int64 { sqlite3_column_int64(handle, index) }

        func isNull(_ index: CInt) -> Bool { sqlite3_column_type(handle, index) == SQLITE_NULL }

        /// Valid until the next row.
        func blob(_ index: CInt) -> UnsafeRawBufferPointer {
            let bytes = sqlite3_column_blob(handle, index)
            return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, index)))
        }
    }

    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private func check(_ code: CInt) throws {
        guard code == SQLITE_OK else { throw error(code) }
    }

    private func error(_ code: CInt) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
    }
}
