package import ApplePayload
internal import HTTP2
package import Model

/// What one push would be on the wire, for people: `push-gateway send --dry-run`.
///
/// Nothing is sent. The `authorization` is left out, because it is a secret for an hour (I7).
package struct PushPreview: Sendable {
    /// Pseudo fields first, in the order in which they are sent.
    package let fields: [(name: String, value: String)]
    /// The body as it is.
    package let body: [UInt8]
    /// Why it would not be sent; nil if it would.
    package let fault: PushFault?

    /// Looks at a push without judging its payload's content; `authority` as in `APNsEndpoint.authority`.
    package init(_ push: Push, authority: String) {
        let payload = push.payload
        var own: [(FieldName, String)] = [(APNsHeader.id, push.id.lowercased)]
        let expiration = push.expiresAt.map { max(0, $0.seconds) } ?? payload.type.rule.expiry.standard
        if let expiration { own.append((APNsHeader.expiration, String(expiration))) }
        if let collapseID = payload.collapseID { own.append((APNsHeader.collapseID, collapseID)) }
        let shared = HeaderBlocks.fields(topic: push.topic, type: payload.type, priority: payload.priority)
        let pseudo = [
            (":method", "POST"), (":scheme", "https"), (":authority", authority),
            (":path", "\(PushEncoder.pathPrefix)\(push.token.text)"),
        ]
        fields = pseudo + (shared + own).map { ($0.0.description, $0.1) }
        body = payload.bytes
        fault = PushGuard.fault(in: push) ?? RawPayload.fault(in: body, limit: payload.type.maxPayloadBytes)
    }
}
