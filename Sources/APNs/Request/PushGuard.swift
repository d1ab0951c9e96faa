package import ApplePayload
internal import Bytes
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

    /// The same for one push.
    package static func fault(in push: Push) -> PushFault? {
        var pushGuard = PushGuard()
        let batch = [push]
        return pushGuard.fault(in: batch.span, at: 0)
    }

    /// Hex of any even length up to the model's limit; Apple names no length.
    private static func isToken(_ text: String) -> Bool {
        let span = text.utf8Span.span
        guard !span.isEmpty, span.count <= DeviceToken.maximumLength, span.count.isMultiple(of: 2) else {
            return false
        }
        return ByteChecks.isHex(span)
    }
}
