package import ApplePayload
internal import Bytes
package import Model

/// Refuses pushes that APNs is documented to refuse, before they cost a stream. It checks headers and size, whichever code wrote the payload.
///
/// Providers with many 4xx answers get fewer streams and are then blocked (docs/contracts/apns.md#9.2), and a control character must never reach a header. A
/// refusal has Apple's reason and status 0, because the push was not sent to Apple.
package struct PushGuard: Sendable {
    /// The shared parts of the last accepted push; consecutive pushes usually have the same.
    private var good: PushHead?
    /// The maximum size for the type of that push. Unit: bytes.
    private var knownMaximum = 0

    package init() {}

    /// The field of a push in a batch that would be refused, and the broken rule; nil if the push may be sent.
    ///
    /// The push is given by its position: passing it would copy it and count its six references.
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

    /// The first fault apart from the token.
    private mutating func fault(in push: Push) -> PushFault? {
        let payload = push.payload
        let limit = payload.type.rule.maxPayloadBytes
        if let fault = RawPayload.sizeFault(payload.bytes.count, limit: limit) { return fault }
        let fault = HeaderRules.fault(
            type: payload.type,
            priority: payload.priority,
            collapseID: payload.collapseID,
            topic: push.topic
        )
        if let fault { return fault }
        good = PushHead(push)
        knownMaximum = limit
        return nil
    }

    /// The fault of one push.
    package static func fault(in push: Push) -> PushFault? {
        var pushGuard = PushGuard()
        let batch = [push]
        return pushGuard.fault(in: batch.span, at: 0)
    }

    /// Whether the text is hexadecimal, of any even length up to the model's limit; Apple documents no length.
    private static func isToken(_ text: String) -> Bool {
        let span = text.utf8Span.span
        guard !span.isEmpty, span.count <= DeviceToken.maximumLength, span.count.isMultiple(of: 2) else {
            return false
        }
        return ByteChecks.isHex(span)
    }
}
