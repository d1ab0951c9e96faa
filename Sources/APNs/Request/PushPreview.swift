package import ApplePayload
internal import HTTP2
package import Model

/// The request of one push, for people to read: `push-gateway send --dry-run`.
///
/// Nothing is sent. The `authorization` is left out, because it is a secret for an hour (I7).
package struct PushPreview: Sendable {
    /// The fields in the order in which they are sent, pseudo fields first.
    package let fields: [(name: String, value: String)]
    /// The body, unchanged.
    package let body: [UInt8]
    /// Why the push would not be sent; nil if it would.
    package let fault: PushFault?

    /// Creates the preview without checking the content of the payload; `authority` as in `APNsEndpoint.authority`.
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
