/// One request as a value, for `Connection.send`. High rates use a `RequestBatch`.
package struct Request: Sendable {
    /// The shared fields.
    package var head: HeaderBlock
    /// The `:path`; the caller percent-encodes it where needed.
    package var path: String
    /// Fields that only this request has.
    package var fields: [(FieldName, String)]
    /// The payload; empty for none.
    package var body: [UInt8]
    /// How long to wait for the complete answer.
    package var timeout: Duration

    /// Creates a request.
    package init(
        head: HeaderBlock,
        path: String,
        fields: [(FieldName, String)] = [],
        body: [UInt8] = [],
        timeout: Duration = .seconds(20)
    ) {
        self.head = head
        self.path = path
        self.fields = fields
        self.body = body
        self.timeout = timeout
    }
}

/// How one request ended. Each submitted request gets exactly one completion.
package struct Completion: Sendable {
    /// The caller's id.
    package let slot: UInt64
    /// The peer's answer, or why there is none.
    package let result: Result<Response, HTTP2Error>

    init(slot: UInt64, result: Result<Response, HTTP2Error>) {
        self.slot = slot
        self.result = result
    }
}

/// A peer's announcement that it accepts no new requests on a connection.
package struct GoAway: Sendable, Equatable {
    /// The highest stream that the peer has processed or may process.
    package let lastStreamID: Int32
    /// The HTTP/2 error code (RFC 9113 §7).
    package let code: UInt32
    /// The peer's debug data, cut at `HTTP2Limits.maxGoAwayDebugBytes`. Apple sends `{"reason":"…"}`.
    package let debugData: [UInt8]

    /// Creates an announcement.
    package init(lastStreamID: Int32, code: UInt32, debugData: [UInt8]) {
        self.lastStreamID = lastStreamID
        self.code = code
        self.debugData = debugData
    }
}
