import HTTP2

/// A request of the model. All its fields follow from its slot, so the peer detects a mix-up.
enum ModelRequest {
    static let id = FieldName("apns-id", indexing: .nameOnce)
    static let echo = FieldName("x-slot")

    static func bodyCount(_ slot: UInt64) -> Int { slot % 16 == 0 ? 0 : Int(slot &* 2_654_435_761 % 3_000) }

    static func byte(_ slot: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: slot) }

    static func write(_ slot: UInt64, to writer: inout RequestWriter) {
        writer.path("/3/device/")
        writer.path(String(slot))
        writer.field(id, "id-\(slot)")
        writer.body([UInt8](repeating: byte(slot), count: bodyCount(slot)))
    }

    /// The slot, if every field has its original value.
    static func slot(of fields: [(String, String)]) -> UInt64? {
        guard let path = fields.first(where: { $0.0 == ":path" })?.1, let slot = UInt64(path.dropFirst(10)) else {
            return nil
        }
        let expected = [
            ":method": "POST", ":scheme": "https", ":authority": "example.com", ":path": "/3/device/\(slot)",
            "apns-topic": "com.example.shop", "apns-id": "id-\(slot)", "authorization": "bearer t",
        ]
        return Dictionary(fields) { "\($0), \($1)" } == expected ? slot : nil
    }
}
