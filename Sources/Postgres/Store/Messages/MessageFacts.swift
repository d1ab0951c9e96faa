package import FoundationEssentials
package import Model
import PostgresClient

/// One message as the native API and the CLI show it.
package struct MessageFacts: Sendable, Hashable {
    package var id: MessageID
    package var scope: AppScope
    package var sender: SenderID?
    package var state: MessageState
    package var lane: Lane
    package var content: Content
    package var fallback: JSON?
    package var collapseID: String?
    package var acceptedAt: Timestamp
    package var dueAt: Timestamp
    /// The schedule in each device's own zone; `dueAt` is then when the first zone has it.
    package var localDue: LocalTime?
    package var expiresAt: Timestamp
    package var dueDay: Int32
    /// Nil while its audience is being expanded.
    package var recipients: Int?
    package var funnel: Funnel
    /// Parts that gave up; a requeue tries them anew.
    package var dead: [DeadPart] = []
}

/// Slices of one message that gave up for one reason.
package struct DeadPart: Sendable, Hashable {
    /// The peer's last word, or ours.
    package var reason: String
    package var slices: Int
    /// Targets of them without an outcome yet.
    package var targets: Int
}

/// One delivery with how it was sent.
package struct DeliveryFacts: Sendable, Hashable {
    package var snapshot: DeliverySnapshot
    package var device: DeviceID?
    package var user: UserID?
    /// `apns`; nil when no transport was asked.
    package var transport: String?
    package var transportID: UUID?
    package var isCertain: Bool
    package var attempts: Int
    package var payloadBytes: Int
    /// What was cut to fit, comma-separated.
    package var reduced: String?
}

/// One day of one app in one dialect, by the day its messages were due.
package struct FunnelDay: Sendable, Hashable {
    package var app: AppID
    package var vendor: Vendor
    /// UTC midnight.
    package var day: Timestamp
    package var funnel: Funnel
}
