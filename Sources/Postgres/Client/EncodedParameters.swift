/// The parameters of a statement in libpq's form: one block of bytes, and the position of each value in it.
struct EncodedParameters {
    /// 65535 parameters are the most that the protocol's 16-bit count can express.
    static let maximumCount = 65535

    private var bytes: [UInt8] = [0]
    private var offsets: [Int] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// The types for which the statement is prepared.
    private(set) var types: [UInt32] = []

    /// - Throws: `invalidParameter`.
    init(_ values: [PostgresValue]) throws(PostgresError) {
        guard values.count <= Self.maximumCount else {
            throw PostgresError(.invalidParameter, reason: "too many parameters")
        }
        for value in values {
            let start = bytes.count
            let isPresent = try value.append(to: &bytes)
            offsets.append(isPresent ? start : -1)
            lengths.append(Int32(truncatingIfNeeded: bytes.count - start))
            formats.append(value.isBinary ? 1 : 0)
            types.append(value.typeID)
            bytes.append(0)  // libpq reads a parameter in text format as a C string.
        }
    }

    /// Passes C pointers to `body`. They are valid only during the call.
    func withPointers<Result>(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        unsafe bytes.withUnsafeBytes { buffer in
            let base = buffer.baseAddress
            let values = unsafe offsets.map { offset in
                unsafe offset < 0 ? nil : base?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            }
            return unsafe values.withUnsafeBufferPointer { values in
                unsafe body(Int32(offsets.count), values.baseAddress, lengths, formats)
            }
        }
    }
}

/// Strings as a NULL-terminated array of C strings.
struct CStrings {
    private var bytes: [UInt8] = []
    private var offsets: [Int] = []

    init(_ strings: [String]) {
        for string in strings {
            offsets.append(bytes.count)
            bytes.append(contentsOf: string.utf8)
            bytes.append(0)
        }
    }

    /// Passes the array to `body`. It is valid only during the call.
    func withPointers<Result>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result) -> Result {
        unsafe bytes.withUnsafeBytes { buffer in
            let base = buffer.baseAddress
            var pointers = unsafe offsets.map { offset in
                unsafe base?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
        }
    }
}
