/// What the simulator counted since its start or the last reset.
package struct SimulatorStats: Sendable, Equatable {
    /// Pushes accepted, repeats included.
    package var accepted = 0

    /// Pushes refused, by reason.
    package var rejected: [String: Int] = [:]

    /// Pushes that got a fault in place of an answer.
    package var unanswered = 0

    /// Connections open now.
    package var connections = 0

    /// Connections opened in all.
    package var connectionsTotal = 0

    /// Streams open now, over all connections.
    package var streams = 0

    /// The most streams that were open at once on one connection.
    package var streamsMax = 0

    /// Device tokens that got at least one accepted push.
    package var distinctTokens = 0

    /// Different (token, apns-id) that were accepted.
    package var distinctPairs = 0

    /// Accepted pushes whose (token, apns-id) had been accepted before.
    package var repeats = 0

    /// Accepted pushes that came after the bounded memory was full: they may be repeats or not.
    package var untracked = 0

    /// Accepted pushes with a finding: a device would not show them.
    package var findings = 0

    /// Faults that were played, by name.
    package var faults: [String: Int] = [:]

    /// Pushes refused, whatever the reason.
    package var rejectedTotal: Int { rejected.values.reduce(0, +) }
}

/// A push that was accepted more than once.
package struct DuplicateDelivery: Sendable, Equatable {
    /// The device token, as it was sent when the repeat was found.
    package var token: String

    /// The `apns-id`, as it was sent then.
    package var apnsID: String

    /// How often it was accepted, the first time included.
    package var count: Int
}

/// What is known of repeats.
package struct DuplicateReport: Sendable, Equatable {
    /// Different (token, apns-id) that were accepted.
    package var pairs: Int

    /// Accepted pushes that were repeats.
    package var repeats: Int

    /// Accepted pushes that the bounded memory could not judge; above 0 the report is a lower bound.
    package var untracked: Int

    /// The first hundred pairs that were repeated.
    package var first: [DuplicateDelivery]
}
