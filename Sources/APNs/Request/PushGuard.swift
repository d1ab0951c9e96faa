internal import HTTP2
package import Model

/// Refuses here what APNs is documented to refuse, before it costs a stream: headers and size, whatever wrote the payload.
///
/// Providers with many 4xx answers get fewer streams and are cut off (docs/contracts/apns.md#9.2), and a control character must never reach a header.
/// A refusal carries Apple's own word and status 0, because Apple was not asked.
package struct PushGuard: Sendable {
    /// What the last good push had in common with its neighbours, as mostly it is the same again.
    private var good: PushHead?
    /// Of its type. Unit: bytes.
    private var knownMaximum = 0

    package init() {}

    /// Which field of a batch's push would be refused and by which rule, or nil if it may be sent.
    ///
    /// By its place: handed over, a push would be copied, and it has six references to count.
    package mutating func fault(in pushes: Span<Push>, at index: Int) -> PushFault? {
        if !Self.isToken(pushes[index].token.text) {
            let what = "hex of an even length up to \(DeviceToken.maximumLength)"
            return PushFault(":path", .malformed(what), .badDeviceToken)
        }
        let byteCount = pushes[index].payload.bytes.count
        if byteCount == 0 { return PushFault("payload", .missing, .payloadEmpty) }
        if good?.isSame(pushes, index) == true, byteCount <= knownMaximum, pushes[index].payload.collapseID == nil {
            return nil
        }
        return fault(in: pushes[index])
    }

    /// What its token does not decide.
    private mutating func fault(in push: Push) -> PushFault? {
        let rule = push.payload.type.rule
        if let fault = Self.sizeFault(push.payload.bytes.count, rule.maxPayloadBytes) { return fault }
        if !rule.priorities.contains(number: push.payload.priority) {
            let values = Self.values(of: rule.priorities)
            return PushFault(APNsHeader.priority.description, .outOfRange(values), .badPriority)
        }
        if let fault = push.payload.collapseID.flatMap(Self.collapseFault) { return fault }
        if case .unknown(let name) = push.payload.type, !Self.isPrintable(name, limit: APNsLimits.maxReasonBytes) {
            let what = "1 to \(APNsLimits.maxReasonBytes) printable bytes without a space"
            return PushFault(APNsHeader.pushType.description, .malformed(what), .invalidPushType)
        }
        if let fault = Self.topicFault(push.topic, suffix: rule.topicSuffix) { return fault }
        good = PushHead(push)
        knownMaximum = rule.maxPayloadBytes
        return nil
    }

    /// The same for one push.
    package static func fault(in push: Push) -> PushFault? {
        var pushGuard = PushGuard()
        let batch = [push]
        return pushGuard.fault(in: batch.span, at: 0)
    }

    /// Why the push would be refused, or nil if it may be sent.
    package static func refusal(of push: Push) -> Rejection? { fault(in: push)?.rejection }

    private static func sizeFault(_ count: Int, _ limit: Int) -> PushFault? {
        count > limit ? PushFault("payload", .tooLong(limit: limit), .payloadTooLarge) : nil
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
