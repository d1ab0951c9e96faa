/// The counts of the simulator since its start or the last reset.
package struct SimulatorStats: Sendable, Equatable {
    /// Pushes accepted, including repeats.
    package var accepted = 0

    /// Pushes refused, by reason.
    package var rejected: [String: Int] = [:]

    /// Pushes that got a fault instead of an answer.
    package var unanswered = 0

    /// Connections that are open at this moment.
    package var connections = 0

    /// Connections opened in total.
    package var connectionsTotal = 0

    /// Streams that are open at this moment, over all connections.
    package var streams = 0

    /// The largest number of streams that were open at once on one connection.
    package var streamsMax = 0

    /// Device tokens that got at least one accepted push.
    package var distinctTokens = 0

    /// Distinct (token, apns-id) pairs that were accepted.
    package var distinctPairs = 0

    /// Accepted pushes whose (token, apns-id) had been accepted before.
    package var repeats = 0

    /// Accepted pushes that came after the bounded memory was full; they may or may not be repeats.
    package var untracked = 0

    /// Accepted pushes with a finding, which a device would not show.
    package var findings = 0

    /// Injected faults, by name.
    package var faults: [String: Int] = [:]

    /// Pushes refused, for any reason.
    package var rejectedTotal: Int { rejected.values.reduce(0, +) }
}

/// A push that was accepted more than once.
package struct DuplicateDelivery: Sendable, Equatable {
    /// The device token, as it was sent when the repeat was found.
    package var token: String

    /// The `apns-id`, as it was sent with that repeat.
    package var apnsID: String

    /// How often it was accepted, including the first time.
    package var count: Int
}

/// The recorded repeats.
package struct DuplicateReport: Sendable, Equatable {
    /// Distinct (token, apns-id) pairs that were accepted.
    package var pairs: Int

    /// Accepted pushes that were repeats.
    package var repeats: Int

    /// Accepted pushes that the bounded memory could not judge; if it is above 0, the report is a lower bound.
    package var untracked: Int

    /// The first hundred pairs that were repeated.
    package var first: [DuplicateDelivery]
}
