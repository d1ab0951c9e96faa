/// One message and what became of it, counted by outcome.
package struct MessageReport: Sendable, Hashable {
    /// How many deliveries ended in one way.
    package struct Tally: Sendable, Hashable {
        package var state: DeliveryState
        /// A peer's word or one of ours, where there is one.
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
    /// When the first delivery was settled; nil: none is.
    package var firstAt: Timestamp?
    package var lastAt: Timestamp?
    /// Settled deliveries, in the order of state and reason.
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
