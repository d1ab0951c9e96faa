/// One recorded request.
package struct RecordedRequest: Sendable, Equatable {
    /// The device token of the path, as sent.
    package var token: String

    /// The status of the answer; 0 if there was no answer.
    package var status: Int

    /// The reason in the answer, or the fault that replaced the answer.
    package var reason: String?

    /// The header fields in the order of their arrival, without the value of `authorization`.
    package var headers: [(name: String, value: String)]

    /// The body, cut at `RuleBook.longestPayloadBytes`.
    package var payload: [UInt8]

    /// The row of the rule table that decided.
    package var row: Int

    /// The evidence that Apple has this row: D, O or X.
    package var evidence: Evidence

    /// Faults because of which a device would not show the push although Apple accepts it.
    package var findings: [String]

    /// The time of arrival. Unit: seconds since 1970.
    package var receivedAt: Int

    /// The number of its connection.
    package var connection = 0

    /// The HTTP/2 stream of the request.
    package var stream = 0

    package static func == (left: RecordedRequest, right: RecordedRequest) -> Bool {
        left.token == right.token && left.status == right.status && left.reason == right.reason
            && left.payload == right.payload && left.headers.elementsEqual(right.headers) { $0 == $1 }
    }
}

/// The last requests, in a ring of fixed size.
struct RequestLog: Sendable {
    private var ring: [RecordedRequest] = []
    private var next = 0
    private let limit: Int

    /// Creates an empty log of at most `limit` requests.
    init(limit: Int) {
        self.limit = limit
    }

    /// Adds a request. If the ring is full, it replaces the oldest.
    mutating func append(_ request: RecordedRequest) {
        guard limit > 0 else { return }
        if ring.count < limit {
            ring.append(request)
        } else {
            ring[next] = request
        }
        next = (next + 1) % limit
    }

    /// The newest `limit` requests, oldest first; only those of `token` if it is given.
    func last(_ limit: Int, token: String?) -> [RecordedRequest] {
        let oldestFirst = ring.count < self.limit ? ring[...] + [] : ring[next...] + ring[..<next]
        let wanted = token.map { token in
            oldestFirst.filter { $0.token.lowercased() == token.lowercased() }[...]
        }
        return Array((wanted ?? oldestFirst).suffix(max(0, limit)))
    }
}
