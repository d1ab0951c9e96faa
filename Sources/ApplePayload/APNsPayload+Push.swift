package import Model

extension APNsPayload {
    /// The payload in the form that a transport takes, checked against the rules and the limit of its type. If the priority is nil, the type's default is used;
    /// the expiration is the message's own. `reduced` names the fields that were cut to make the payload fit.
    ///
    /// - Throws: `PushFault` with the field and the rule.
    package func push(
        type: PushType = .alert,
        priority: Int? = nil,
        collapseID: String? = nil,
        expiresAt: Timestamp? = nil,
        reduced: [String] = []
    ) throws(PushFault) -> PushPayload {
        PushPayload(
            bytes: try bytes(for: type),
            type: type,
            priority: priority ?? type.rule.standardPriority,
            collapseID: collapseID,
            expiresAt: expiresAt,
            reduced: reduced
        )
    }

    /// The bytes alone, for a caller that must still reduce them to `limit` bytes, or to the type's own limit.
    ///
    /// - Throws: `PushFault` with the field and the rule.
    package func bytes(for type: PushType, limit: Int? = nil) throws(PushFault) -> [UInt8] {
        var encoder = PayloadEncoder()
        try encoder.encode(self, for: type, limit: limit)
        return encoder.copy()
    }

    /// The payload as a JSON value of at most `limit` bytes, for vendors that store it or fill it in before it is sent.
    ///
    /// - Throws: `PushFault` with the field and the rule.
    package func document(for type: PushType, limit: Int? = nil) throws(PushFault) -> JSONObject {
        let bytes = try bytes(for: type, limit: limit)
        guard let object = (try? JSONParser.parse(bytes))?.object else {
            throw PushFault("payload", .malformed("a JSON object"))
        }
        return object
    }
}

extension PushFault {
    /// Whether the payload exceeds its limit and no other fault is known.
    package var isTooLarge: Bool { reason == .payloadTooLarge }
}

extension AdapterError {
    /// Converts the fault into the error that adapters throw. `payload` is the vendor's name of the field that is too large.
    package init(_ fault: PushFault, payload: String? = nil) {
        self.init(fault.isTooLarge ? .tooLarge : .invalid, field: fault.isTooLarge ? payload : fault.field)
    }
}

/// The size of texts inside a payload.
package enum JSONText {
    /// The size of a text inside a JSON string, without the quotes. Unit: bytes.
    package static func encodedBytes(_ text: String) -> Int {
        text.utf8.reduce(into: 0) { size, byte in
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0A, 0x0C, 0x0D: size += 2
            case 0..<0x20: size += 6
            default: size += 1  // any other byte is written unchanged
            }
        }
    }

    /// The longest prefix of whole characters that fits into `limit` bytes of a JSON string.
    package static func head(of text: String, encodedBytes limit: Int) -> String {
        var used = 0
        return String(
            text.prefix { character in
                used += encodedBytes(String(character))
                return used <= limit
            }
        )
    }
}
