package import Model
package import PostgresClient

/// Finds the delivery of a message to the reporter's identity, or to the phone number that is registered for that identity.
package struct FindDelivery: StoreRead {
    let scope: AppScope
    let message: MessageID
    let reporter: Reporter
    let isWhole: Bool

    package init(_ scope: AppScope, _ message: MessageID, _ reporter: Reporter, isWhole: Bool = false) {
        self.scope = scope
        self.message = message
        self.reporter = reporter
        self.isWhole = isWhole
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("reported_delivery", 6)

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(message), .id(reporter.key), .bool(isWhole))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> ReportedDelivery {
        guard let row = result.first else { return ReportedDelivery() }
        let platform = try row.optionalText("platform").flatMap { Platform(rawValue: $0) }
        guard try !row.isNull("message_id") else { return ReportedDelivery(platform: platform) }
        return ReportedDelivery(snapshot: try SnapshotRow.read(row), platform: platform)
    }
}

/// A delivery that its device may see, and the device itself.
package struct ReportedDelivery: Sendable, Hashable {
    /// Nil: this device has no delivery of the message.
    package var snapshot: DeliverySnapshot?
    package var platform: Platform?

    package init(snapshot: DeliverySnapshot? = nil, platform: Platform? = nil) {
        self.snapshot = snapshot
        self.platform = platform
    }
}
