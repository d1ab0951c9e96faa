/// What a script entry is for. All that is given must fit.
package struct ScriptSelector: Sendable, Equatable {
    /// When an entry strikes.
    package enum Moment: String, Sendable, CaseIterable {
        /// TCP is accepted, no byte of TLS was sent.
        case accept
        /// TLS is up and our SETTINGS are sent.
        case open
        /// A request's header block is complete, its body is not: mid-stream.
        case headers
        /// The request is complete and passed the rules.
        case end
    }

    /// The device token, or a prefix of one followed by `*`; `*` alone means every token.
    package var token: String

    /// The n-th connection since the start; nil for all.
    package var connection: Int?

    /// The n-th request of its connection; nil for all.
    package var stream: Int?

    /// Only each n-th request that fits the rest.
    package var every: Int?

    /// Only so large a part, at random: above 0, up to 1.
    package var share: Double?

    /// Only so long after it was posted.
    package var lifetime: Duration?

    /// When it strikes.
    package var moment: Moment

    /// A selector of pushes to a device token, at their end.
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

    /// Whether only the device token decides: such entries are found by a look-up and form a queue per token.
    var isByTokenAlone: Bool {
        connection == nil && stream == nil && every == nil && share == nil && lifetime == nil && moment == .end
    }

    /// Whether token, connection, stream and moment fit; counting, dice and lifetime are the script book's.
    func fits(_ occasion: ScriptOccasion) -> Bool {
        guard moment == occasion.moment else { return false }
        guard connection.map({ $0 == occasion.connection }) ?? true else { return false }
        guard stream.map({ $0 == occasion.stream }) ?? true else { return false }
        if token == "*" { return true }
        guard token.hasSuffix("*") else { return token.lowercased() == occasion.token.lowercased() }
        return occasion.token.lowercased().hasPrefix(token.dropLast().lowercased())
    }
}

/// Something that a script entry may be for.
struct ScriptOccasion: Sendable {
    /// Empty when there is no request, or none with a device token.
    var token = ""

    /// The connection's number.
    var connection = 0

    /// The request's number on its connection; 0 when there is none.
    var stream = 0

    var moment = ScriptSelector.Moment.end

    /// Nanoseconds of a clock that never goes back.
    var now: UInt64 = 0
}
