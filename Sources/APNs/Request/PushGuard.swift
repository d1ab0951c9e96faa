package import Model

/// Refuses here what APNs is documented to refuse, before it costs a stream.
///
/// Providers with many 4xx answers get fewer streams and are cut off (apns.md §9.2), and a control character must never reach a header.
/// A refusal carries Apple's own word and status 0, because Apple was not asked.
package enum PushGuard {
    /// Why the push would be refused, or nil if it may be sent.
    package static func refusal(of push: Push) -> Rejection? {
        guard let reason = reason(against: push) else { return nil }
        let scope: Rejection.Scope = reason == .badDeviceToken ? .tokenDoubtful : .content
        return Rejection(scope: scope, reason: reason.wireName, status: 0)
    }

    private static func reason(against push: Push) -> APNsReason? {
        if !isToken(push.token.text) { return .badDeviceToken }
        let payload = push.payload
        if payload.bytes.isEmpty { return .payloadEmpty }
        if payload.bytes.count > payload.type.maxPayloadBytes { return .payloadTooLarge }
        if !isPriority(payload.priority, for: payload.type) { return .badPriority }
        if let id = payload.collapseID, !isPrintable(id, limit: APNsLimits.maxCollapseIDBytes, space: true) {
            return .badCollapseID
        }
        if case .unknown(let name) = payload.type, !isPrintable(name, limit: APNsLimits.maxReasonBytes, space: false) {
            return .invalidPushType
        }
        let suffix = payload.type.topicSuffix.utf8.count
        if push.topic.isEmpty { return .missingTopic }
        if !isPrintable(push.topic, limit: APNsLimits.maxTopicBytes - suffix, space: false) { return .badTopic }
        return nil
    }

    /// Hex of any even length up to the model's limit; Apple names no length.
    private static func isToken(_ text: String) -> Bool {
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.count <= DeviceToken.maximumLength, bytes.count.isMultiple(of: 2) else {
            return false
        }
        return bytes.allSatisfy { HexCoding.value(of: $0) != nil }
    }

    /// 10, 5 or 1; a background push at 10 is an error (Apple, "Sending notification requests to APNs").
    private static func isPriority(_ priority: Int, for type: PushType) -> Bool {
        switch priority {
        case 10: type != .background
        case 5, 1: true
        default: false
        }
    }

    /// 1...`limit` bytes, none of them a control character or DEL. A collapse id may be any text, so bytes above ASCII and spaces inside
    /// are its own business; a space at either end would be cut off on the way and make it another id.
    private static func isPrintable(_ text: String, limit: Int, space: Bool) -> Bool {
        let bytes = text.utf8
        guard (1...limit).contains(bytes.count) else { return false }
        if space {
            return bytes.first != 0x20 && bytes.last != 0x20 && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        }
        return bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
