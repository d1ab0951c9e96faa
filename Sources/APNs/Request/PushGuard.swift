internal import HTTP2
package import Model

/// Refuses here what APNs is documented to refuse, before it costs a stream: headers and size, whatever wrote the payload.
///
/// Providers with many 4xx answers get fewer streams and are cut off (apns.md §9.2), and a control character must never reach a header.
/// A refusal carries Apple's own word and status 0, because Apple was not asked.
package enum PushGuard {
    /// Why the push would be refused, or nil if it may be sent.
    package static func refusal(of push: Push) -> Rejection? { fault(in: push)?.rejection }

    /// Which field would be refused and by which rule, or nil if the push may be sent.
    package static func fault(in push: Push) -> PushFault? {
        let payload = push.payload
        let rule = payload.type.rule
        if !isToken(push.token.text) {
            let what = "hex of an even length up to \(DeviceToken.maximumLength)"
            return PushFault(":path", .malformed(what), .badDeviceToken)
        }
        if payload.bytes.isEmpty { return PushFault("payload", .missing, .payloadEmpty) }
        if payload.bytes.count > rule.maxPayloadBytes {
            return PushFault("payload", .tooLong(limit: rule.maxPayloadBytes), .payloadTooLarge)
        }
        if !rule.priorities.contains(number: payload.priority) {
            return PushFault(APNsHeader.priority.description, .outOfRange(values(of: rule.priorities)), .badPriority)
        }
        if let id = payload.collapseID, let fault = collapseFault(id) { return fault }
        if case .unknown(let name) = payload.type, !isPrintable(name, limit: APNsLimits.maxReasonBytes) {
            let what = "1 to \(APNsLimits.maxReasonBytes) printable bytes without a space"
            return PushFault(APNsHeader.pushType.description, .malformed(what), .invalidPushType)
        }
        return topicFault(push.topic, suffix: rule.topicSuffix)
    }

    private static func topicFault(_ topic: String, suffix: String) -> PushFault? {
        if topic.isEmpty { return PushFault(APNsHeader.topic.description, .missing, .missingTopic) }
        if isPrintable(topic, limit: APNsLimits.maxTopicBytes - suffix.utf8.count) { return nil }
        let what = "at most \(APNsLimits.maxTopicBytes) printable bytes with its suffix, without a space"
        return PushFault(APNsHeader.topic.description, .malformed(what), .badTopic)
    }

    /// A collapse id may be any text, so bytes above ASCII and spaces inside are its own business; a space at either end would be cut off on
    /// the way and make it another id.
    private static func collapseFault(_ id: String) -> PushFault? {
        let bytes = id.utf8
        let isGood =
            (1...APNsLimits.maxCollapseIDBytes).contains(bytes.count) && bytes.first != 0x20 && bytes.last != 0x20
            && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        guard !isGood else { return nil }
        let what = "1 to \(APNsLimits.maxCollapseIDBytes) bytes without control characters or a space at an end"
        return PushFault(APNsHeader.collapseID.description, .malformed(what), .badCollapseID)
    }

    /// Hex of any even length up to the model's limit; Apple names no length.
    private static func isToken(_ text: String) -> Bool {
        let span = text.utf8Span.span
        guard !span.isEmpty, span.count <= DeviceToken.maximumLength, span.count.isMultiple(of: 2) else {
            return false
        }
        return ByteChecks.isHex(span)
    }

    private static func values(of priorities: PushTypeRule.Priorities) -> String {
        [10, 5, 1].filter { priorities.contains(number: $0) }.map(String.init).joined(separator: ", ")
    }

    /// 1...`limit` bytes of visible ASCII.
    static func isPrintable(_ text: String, limit: Int) -> Bool {
        let span = text.utf8Span.span
        return !span.isEmpty && span.count <= limit && ByteChecks.isVisible(span)
    }
}
