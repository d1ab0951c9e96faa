package import Model

/// The door for payloads that a caller demands unchanged: size, JSON and headers are checked, what is inside `aps` is not.
package enum RawPayload {
    /// The payload as the transport takes it, with the priority of its type where the caller names none.
    ///
    /// - Parameters:
    ///   - bytes: one JSON object in UTF-8; sent as it is.
    ///   - type: decides the limit. Unit: bytes of the whole object.
    ///   - priority: nil for the type's own.
    ///   - collapseID: at most 64 bytes; `PushGuard` looks at it with the other headers.
    /// - Returns: the payload with these very bytes.
    /// - Throws: `PushFault` for the first rule it breaks.
    package static func payload(
        _ bytes: [UInt8],
        type: PushType,
        priority: Int? = nil,
        collapseID: String? = nil
    ) throws(PushFault) -> PushPayload {
        if let fault = fault(in: bytes, limit: type.maxPayloadBytes) { throw fault }
        return PushPayload(
            bytes: bytes,
            type: type,
            priority: priority ?? type.rule.standardPriority,
            collapseID: collapseID
        )
    }

    /// Why these bytes cannot be a payload of at most `limit` bytes, or nil if they can.
    ///
    /// One pass that neither recurses nor allocates. The reply of APNs to a body that is not JSON is not documented (docs/contracts/apns.md#18), so
    /// that fault names no reason.
    package static func fault(in bytes: [UInt8], limit: Int) -> PushFault? {
        if bytes.isEmpty { return PushFault("payload", .missing, .payloadEmpty) }
        // First, because it bounds the scan.
        if bytes.count > limit { return PushFault("payload", .tooLong(limit: limit), .payloadTooLarge) }
        guard bytes.first(where: { !isSpace($0) }) == UInt8(ascii: "{") else {
            return PushFault("payload", .malformed("a JSON object"))
        }
        if (try? UTF8Span(validating: bytes.span)) == nil { return PushFault("payload", .malformed("UTF-8")) }
        var scanner = JSONScanner()
        do throws(JSONScanner.Fault) {
            while try scanner.next(in: bytes.span) != .end {}
            return nil
        } catch {
            return PushFault("payload", .malformed("JSON: \(error.what), at byte \(error.offset)"))
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}
