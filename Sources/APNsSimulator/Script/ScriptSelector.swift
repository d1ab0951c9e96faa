/// The selector of a script entry. All given conditions must match.
package struct ScriptSelector: Sendable, Equatable {
    /// The moments at which an entry can apply.
    package enum Moment: String, Sendable, CaseIterable {
        /// TCP is accepted; no byte of TLS was sent.
        case accept
        /// TLS is established and our SETTINGS are sent.
        case open
        /// A request's header block is complete, and its body is not.
        case headers
        /// The request is complete and passed the rules.
        case end
    }

    /// The device token, or a prefix of one followed by `*`; `*` alone matches every token.
    package var token: String

    /// The n-th connection since the start; nil for all.
    package var connection: Int?

    /// The n-th request of its connection; nil for all.
    package var stream: Int?

    /// Only every n-th request that matches the other conditions.
    package var every: Int?

    /// Only this random share of requests: above 0, at most 1.
    package var share: Double?

    /// Only for this time after the entry was posted.
    package var lifetime: Duration?

    /// When the entry applies.
    package var moment: Moment

    /// Creates a selector of pushes to a device token, at the end of the request.
    package init(
        token: String = "*",
        connection: Int? = nil,
        stream: Int? = nil,
        every: Int? = nil,
        share: Double? = nil,
        lifetime: Duration? = nil,
        moment: Moment = .end
    ) {
        self.token = token
        self.connection = connection
        self.stream = stream
        self.every = every
        self.share = share
        self.lifetime = lifetime
        self.moment = moment
    }

    /// Whether only the device token decides. Such entries are found by a look-up and form a queue per token.
    var isByTokenAlone: Bool {
        connection == nil && stream == nil && every == nil && share == nil && lifetime == nil && moment == .end
    }

    /// Whether token, connection, stream and moment match; counting, random choice and lifetime are checked by `ScriptBook`.
    func fits(_ occasion: ScriptOccasion) -> Bool {
        guard moment == occasion.moment else { return false }
        guard connection.map({ $0 == occasion.connection }) ?? true else { return false }
        guard stream.map({ $0 == occasion.stream }) ?? true else { return false }
        if token == "*" { return true }
        guard token.hasSuffix("*") else { return token.lowercased() == occasion.token.lowercased() }
        return occasion.token.lowercased().hasPrefix(token.dropLast().lowercased())
    }
}

/// An event to which a script entry may apply.
struct ScriptOccasion: Sendable {
    /// Empty without a request, or for a request without a device token.
    var token = ""

    /// The connection's number.
    var connection = 0

    /// The request's number on its connection; 0 without a request.
    var stream = 0

    var moment = ScriptSelector.Moment.end

    /// Nanoseconds of a monotonic clock.
    var now: UInt64 = 0
}
