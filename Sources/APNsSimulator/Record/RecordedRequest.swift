/// One request as the simulator remembers it.
package struct RecordedRequest: Sendable, Equatable {
    /// The device token of the path, as sent.
    package var token: String

    /// The status that was answered; 0 when there was no answer.
    package var status: Int

    /// The reason that was answered, or the fault that took its place.
    package var reason: String?

    /// Header fields in the order they came, without `authorization`'s value.
    package var headers: [(name: String, value: String)]

    /// The body, cut at `RuleBook.longestPayloadBytes`.
    package var payload: [UInt8]

    /// Which row of the rule table decided.
    package var row: Int

    /// How well that row is known to be Apple's: D, O or X.
    package var evidence: Evidence

    /// What a device would not show although Apple accepts it.
    package var findings: [String]

    /// Seconds since 1970.
    package var receivedAt: Int

    /// The number of its connection.
    package var connection = 0

    /// The HTTP/2 stream it came on.
    package var stream = 0

    /// The first value of a header field.
    package func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

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

    /// An empty log of at most `limit` requests.
    init(limit: Int) {
        self.limit = limit
    }

    /// Adds one, in place of the oldest when the ring is full.
    mutating func append(_ request: RecordedRequest) {
        guard limit > 0 else { return }
        if ring.count < limit {
            ring.append(request)
        } else {
            ring[next] = request
        }
        next = (next + 1) % limit
    }

    /// The newest `limit` requests, of one token if it is given, oldest first.
    func last(_ limit: Int, token: String?) -> [RecordedRequest] {
        let oldestFirst = ring.count < self.limit ? ring[...] + [] : ring[next...] + ring[..<next]
        let wanted = token.map { token in
            oldestFirst.filter { $0.token.lowercased() == token.lowercased() }[...]
        }
        return Array((wanted ?? oldestFirst).suffix(max(0, limit)))
    }
}
