internal import ApplePayload
internal import FoundationEssentials
package import HTTP2
internal import Model

/// One HTTP request for a `Broadcast` or a `ChannelRequest`, ready for a connection.
///
/// It is a value, so that the request can be tested without a connection.
package struct ChannelCall: Sendable {
    package let method: String
    package let path: String
    package let fields: [(FieldName, String)]
    /// The request body; empty for none.
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
    ///   - authority: the `:authority` of the host.
    ///   - authorization: `bearer …`; nil on a connection with a certificate.
    ///   - timeout: the limit for the whole answer.
    /// - Returns: a request whose fields are all in its shared head.
    /// - Throws: `invalidRequest` if a value contains bytes that HTTP/2 forbids.
    package func request(
        authority: String,
        authorization: String?,
        timeout: Duration = .seconds(20)
    ) throws(HTTP2Error) -> Request {
        let head = try HeaderBlock(
            method: method,
            authority: authority,
            // The fields are in the block, because only a block checks its values before they are sent.
            fields: fields + (authorization.map { [(APNsHeader.authorization, $0)] } ?? [])
        )
        return Request(head: head, path: path, body: body, timeout: timeout)
    }

    /// The fault of a bundle id that is not allowed in a path, or nil.
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
