package import FoundationEssentials
package import Model
import PostgresClient

/// One message as the native API and the CLI show it.
package struct MessageFacts: Sendable, Hashable {
    package var id: MessageID
    package var scope: AppScope
    package var sender: SenderID?
    /// The API key that sent it, as the audit names it. Nil: a vendor's call without a key of the gateway.
    package var submitter: String?
    package var state: MessageState
    package var lane: Lane
    package var content: Content
    package var fallback: JSON?
    package var collapseID: String?
    package var acceptedAt: Timestamp
    package var dueAt: Timestamp
    /// The scheduled time in each device's own zone. `dueAt` is then the moment at which the first zone reaches it.
    package var localDue: LocalTime?
    package var expiresAt: Timestamp
    package var dueDay: Int32
    /// Nil while the audience is being expanded.
    package var recipients: Int?
    package var funnel: Funnel
    /// Slices that were given up. A requeue retries them.
    package var dead: [DeadPart] = []
    /// Whether the message has counts of its own; without them its deliveries are counted, of which it has few.
    package var hasOwnCounts = false
    /// Whether `funnel` is counted: of messages in a list only on request.
    package var isCounted = false
}

/// The slices of one message that were given up for one reason.
package struct DeadPart: Sendable, Hashable {
    /// The last reason of the peer or of the gateway.
    package var reason: String
    package var slices: Int
    /// The number of their targets without an outcome.
    package var targets: Int
}

/// One delivery with the way it was sent.
package struct DeliveryFacts: Sendable, Hashable {
    package var snapshot: DeliverySnapshot
    package var device: DeviceID?
    package var user: UserID?
    /// For example `apns`. Nil when no transport was used.
    package var transport: String?
    package var transportID: UUID?
    package var isCertain: Bool
    package var attempts: Int
    package var payloadBytes: Int
    /// The fields that were shortened to fit, separated by commas.
    package var reduced: String?
    /// The dialect of the device. Nil: that of the message, or unknown if the message is of the native API.
    package var deviceVendor: Vendor?
    /// Milliseconds from the hand-over to the answer of the transport. Nil: it did not answer.
    package var latency: Int?
}
