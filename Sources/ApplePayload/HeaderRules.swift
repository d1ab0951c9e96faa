internal import Bytes
package import Model

/// Apple's documented rules for the headers of a push.
///
/// Source: Apple, "Sending notification requests to APNs".
package enum HeaderRules {
    /// The first broken rule of priority, collapse id, push type and topic, or nil. The topic has no suffix.
    package static func fault(type: PushType, priority: Int, collapseID: String?, topic: String) -> PushFault? {
        let rule = type.rule
        if let fault = priorityFault(priority, rule) { return fault }
        if let fault = collapseID.flatMap(collapseFault) { return fault }
        if let fault = typeFault(type) { return fault }
        return topicFault(topic, suffix: rule.topicSuffix)
    }

    /// Why a push of this type cannot have this priority, or nil.
    package static func priorityFault(_ priority: Int, _ rule: PushTypeRule) -> PushFault? {
        guard !rule.priorities.contains(number: priority) else { return nil }
        return PushFault("apns-priority", .outOfRange(rule.priorities.text), .badPriority)
    }

    /// Why a text cannot be a collapse id, or nil.
    ///
    /// Spaces inside and bytes above ASCII are allowed. A space at either end would be removed in transit, which changes the id.
    package static func collapseFault(_ id: String) -> PushFault? {
        let bytes = id.utf8
        let isGood =
            (1...AppleLimits.collapseIDBytes).contains(bytes.count) && bytes.first != 0x20 && bytes.last != 0x20
            && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        guard !isGood else { return nil }
        let what = "1 to \(AppleLimits.collapseIDBytes) bytes without control characters or a space at an end"
        return PushFault("apns-collapse-id", .malformed(what), .badCollapseID)
    }

    /// Why the name of an unknown push type cannot be sent, or nil.
    package static func typeFault(_ type: PushType) -> PushFault? {
        guard case .unknown(let name) = type, !isPrintable(name, limit: AppleLimits.labelBytes) else { return nil }
        let what = "1 to \(AppleLimits.labelBytes) printable bytes without a space"
        return PushFault("apns-push-type", .malformed(what), .invalidPushType)
    }

    /// Why a topic cannot be sent, or nil.
    package static func topicFault(_ topic: String, suffix: String) -> PushFault? {
        if topic.isEmpty { return PushFault("apns-topic", .missing, .missingTopic) }
        if isPrintable(topic, limit: AppleLimits.topicBytes - suffix.utf8.count) { return nil }
        let what = "at most \(AppleLimits.topicBytes) printable bytes with its suffix, without a space"
        return PushFault("apns-topic", .malformed(what), .badTopic)
    }

    /// Whether the text is 1...`limit` bytes of visible ASCII.
    private static func isPrintable(_ text: String, limit: Int) -> Bool {
        let span = text.utf8Span.span
        return !span.isEmpty && span.count <= limit && ByteChecks.isVisible(span)
    }
}
