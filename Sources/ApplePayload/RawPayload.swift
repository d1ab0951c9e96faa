internal import Bytes
package import Model

/// Payloads that a caller wrote itself. They are checked and forwarded unchanged.
package enum RawPayload {
    /// Creates a push with exactly these bytes, one JSON object that the caller has parsed before; only the size is checked. If the priority is nil, the type's
    /// default is used.
    ///
    /// - Throws: `PushFault` if the payload is empty or too large.
    package static func push(
        _ bytes: [UInt8],
        type: PushType,
        priority: Int? = nil,
        collapseID: String? = nil,
        expiresAt: Timestamp? = nil
    ) throws(PushFault) -> PushPayload {
        let rule = type.rule
        if let fault = sizeFault(bytes.count, limit: rule.maxPayloadBytes) { throw fault }
        return PushPayload(
            bytes: bytes,
            type: type,
            priority: priority ?? rule.standardPriority,
            collapseID: collapseID,
            expiresAt: expiresAt
        )
    }

    /// Why `count` bytes cannot be a payload, or nil.
    package static func sizeFault(_ count: Int, limit: Int) -> PushFault? {
        if count == 0 { return PushFault("payload", .missing, .payloadEmpty) }
        return count > limit ? PushFault("payload", .tooLong(limit: limit), .payloadTooLarge) : nil
    }

    /// Why these bytes cannot be a payload of at most `limit` bytes, or nil. It checks the size, the encoding and the syntax.
    ///
    /// Apple does not document the answer to a body that is not JSON, so that fault has no reason.
    package static func fault(in bytes: [UInt8], limit: Int) -> PushFault? {
        // Check the size first, because it limits the parser's work.
        if let fault = sizeFault(bytes.count, limit: limit) { return fault }
        guard bytes.first(where: { !isSpace($0) }) == UInt8(ascii: "{") else {
            return PushFault("payload", .malformed("a JSON object"))
        }
        if (try? UTF8Span(validating: bytes.span)) == nil { return PushFault("payload", .malformed("UTF-8")) }
        do throws(JSONError) {
            _ = try JSONParser.parse(bytes)
            return nil
        } catch {
            return PushFault("payload", .malformed("JSON: \(error.what), at byte \(error.offset)"))
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    // MARK: Content

    /// The first documented rule of its push type that a parsed payload breaks, or nil.
    ///
    /// Unknown keys are ignored, because Apple adds keys.
    package static func fault(in document: JSONObject, type: PushType) -> PushFault? {
        let body = type.rule.body
        switch body {
        case .any: return nil
        case .mdm:
            let magic = document[AppleKey.mdm]?.string ?? ""
            return magic.isEmpty ? PushFault(AppleKey.mdm, .missing) : nil
        case .alert, .background, .notification, .liveActivity, .contentChanged: break
        }
        guard let value = document[AppleKey.aps] else { return PushFault(AppleKey.aps, .missing) }
        guard let aps = value.object else { return PushFault(AppleKey.aps, .malformed("an object")) }
        switch body {
        case .background: return backgroundFault(aps)
        case .liveActivity: return activityFault(aps)
        case .contentChanged:
            return aps[AppleKey.contentChanged] == nil ? PushFault("aps.content-changed", .missing) : nil
        case .alert, .notification: return notificationFault(aps)
        case .any, .mdm: return nil
        }
    }

    private static func notificationFault(_ aps: JSONObject) -> PushFault? {
        switch aps[AppleKey.alert] {
        case nil, .string: break
        case .object(let alert)?: if let fault = PayloadRules.fault(inAlert: alert) { return fault }
        case .null?, .bool?, .number?, .array?: return PushFault("aps.alert", .malformed("a string or an object"))
        }
        if let badge = aps[AppleKey.badge] {
            guard let number = badge.int, number >= 0 else { return PushFault("aps.badge", .outOfRange("0 or more")) }
        }
        switch aps[AppleKey.sound] {
        case nil, .string, .object: return nil
        case .null?, .bool?, .number?, .array?: return PushFault("aps.sound", .malformed("a string or an object"))
        }
    }

    private static func backgroundFault(_ aps: JSONObject) -> PushFault? {
        guard aps[AppleKey.contentAvailable]?.lenientInt == 1 else {
            return PushFault("aps.content-available", .missing)
        }
        for key in [AppleKey.alert, AppleKey.badge, AppleKey.sound] {
            guard let value = aps[key], !(key == AppleKey.sound && value == "") else { continue }
            return PushFault("aps.\(key)", .notAllowed("in a background push"))
        }
        return nil
    }

    private static func activityFault(_ aps: JSONObject) -> PushFault? {
        guard aps[AppleKey.timestamp]?.int ?? 0 > 0 else {
            return PushFault("aps.timestamp", .outOfRange("seconds since 1970"))
        }
        let needed: [String]
        switch aps[AppleKey.event]?.string {
        case "start":
            guard aps[AppleKey.attributesType]?.string?.isEmpty == false else {
                return PushFault("aps.attributes-type", .missing)
            }
            needed = [AppleKey.attributes, AppleKey.contentState, AppleKey.alert]
        case "update": needed = [AppleKey.contentState]
        case "end": needed = []
        case nil: return PushFault("aps.event", .missing)
        default: return PushFault("aps.event", .outOfRange("start, update or end"))
        }
        return needed.first { aps[$0]?.object == nil }.map { PushFault("aps.\($0)", .missing) }
    }

    /// The type of a payload whose sender states none: a payload that only wakes the app is a background push, all others are alerts. An empty `sound` plays
    /// nothing.
    package static func inferredType(of document: JSONObject) -> PushType {
        guard let aps = document[AppleKey.aps]?.object, backgroundFault(aps) == nil else { return .alert }
        return .background
    }
}
