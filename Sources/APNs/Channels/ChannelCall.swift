internal import ApplePayload
internal import FoundationEssentials
package import HTTP2
internal import Model

/// One request about a channel, ready for a connection: what a `Broadcast` and a `ChannelRequest` become.
///
/// A value, so that what goes over the wire can be looked at without a wire.
package struct ChannelCall: Sendable {
    package let method: String
    package let path: String
    package let fields: [(FieldName, String)]
    /// Empty for none.
    package let body: [UInt8]

    init(_ method: String, _ path: String, fields: [(FieldName, String)] = [], body: [UInt8] = []) {
        self.method = method
        self.path = path
        self.fields = fields
        self.body = body
    }

    /// The request for `Connection.send`.
    ///
    /// - Parameters:
    ///   - authority: of the host it goes to.
    ///   - authorization: `bearer …`; nil on a connection with a certificate.
    ///   - timeout: for the whole answer.
    /// - Returns: a request without fields of its own.
    /// - Throws: `invalidRequest` if a value has bytes that HTTP/2 forbids.
    package func request(
        authority: String,
        authorization: String?,
        timeout: Duration = .seconds(20)
    ) throws(HTTP2Error) -> Request {
        let head = try HeaderBlock(
            method: method,
            authority: authority,
            // In the block, because only there are values checked before they leave.
            fields: fields + (authorization.map { [(APNsHeader.authorization, $0)] } ?? [])
        )
        return Request(head: head, path: path, body: body, timeout: timeout)
    }

    /// The fault of a bundle id that cannot stand in a path, or nil.
    static func bundleFault(_ bundleID: String) -> PushFault? {
        let isGood =
            (1...AppleLimits.topicBytes).contains(bundleID.utf8.count)
            && bundleID.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
        return isGood ? nil : PushFault(":path", .malformed("a bundle id of letters, digits, '.', '-'"), .badPath)
    }

    static func requestIDField(_ id: UUID?) -> [(FieldName, String)] {
        id.map { [(APNsHeader.requestID, $0.lowercased)] } ?? []
    }
}
