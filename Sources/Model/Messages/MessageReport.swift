/// One message with the counts of its outcomes.
package struct MessageReport: Sendable, Hashable {
    /// The number of deliveries with one outcome.
    package struct Tally: Sendable, Hashable {
        package var state: DeliveryState
        /// The reason of the peer or of the gateway, if any.
        package var reason: String?
        package var count: Int

        package init(state: DeliveryState, reason: String?, count: Int) {
            self.state = state
            self.reason = reason
            self.count = count
        }
    }

    package var message: MessageID
    package var state: MessageState
    package var content: Content
    package var acceptedAt: Timestamp
    /// When the first delivery was settled. Nil: none is settled.
    package var firstAt: Timestamp?
    package var lastAt: Timestamp?
    /// The counts of settled deliveries, ordered by state and reason.
    package var tallies: [Tally]

    package init(
        message: MessageID,
        state: MessageState,
        content: Content,
        acceptedAt: Timestamp,
        firstAt: Timestamp? = nil,
        lastAt: Timestamp? = nil,
        tallies: [Tally] = []
    ) {
        self.message = message
        self.state = state
        self.content = content
        self.acceptedAt = acceptedAt
        self.firstAt = firstAt
        self.lastAt = lastAt
        self.tallies = tallies
    }
}
