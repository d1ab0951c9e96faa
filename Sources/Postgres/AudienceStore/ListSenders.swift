package import Model
package import PostgresClient
package import Store

/// A registered back end of an app, without its keys.
package struct ListedSender: Sendable, Hashable {
    /// A place in the list of an app's senders.
    package struct Place: Sendable, Hashable {
        package var vendor: String
        package var name: String

        /// The value of `next` that leads behind it. A vendor's name has no colon.
        package var text: String { "\(vendor):\(name)" }

        init(vendor: String, name: String) {
            self.vendor = vendor
            self.name = name
        }

        /// Nil: the text is not a place.
        package init?(text: String) {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            self.init(vendor: String(parts[0]), name: String(parts[1]))
        }
    }

    package var vendor: Vendor
    package var id: SenderID
    package var name: String
    /// Whether it has a key of its own, in dialects with a second registration.
    package var isEnrolled: Bool
    package var enrolledName: String?
    /// The address that it stated then.
    package var address: String?
    /// Whether a proven caller or a provisioning file registered it.
    package var isProven: Bool
    package var registeredAt: Timestamp
    package var callbackURL: String?
    /// Calls that failed one after the other.
    package var failures: Int
    package var failingSince: Timestamp?
    package var failure: String?

    package var place: Place { Place(vendor: vendor.rawValue, name: name) }
}

/// Returns the senders of an app after a place, in the order of vendors and names.
package struct ListSenders: StoreRead {
    let app: AppID
    let after: ListedSender.Place?
    let limit: Int

    package init(_ app: AppID, after: ListedSender.Place?, limit: Int) {
        self.app = app
        self.after = after
        self.limit = limit
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT s.vendor, s.sender_id, s.name, s.enrolment_key IS NOT NULL AS is_enrolled, s.enrolment_name, s.address, s.is_proven,
            s.created_at, s.callback_url, s.attempts, s.failing_since, s.failure
        FROM gateway.sender s WHERE s.tenant_id = $1 AND s.app_id = $2 AND (s.vendor, s.name) > ($3, $4)
        ORDER BY s.vendor, s.name LIMIT $5
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(app),
            .string(after?.vendor ?? ""),
            .string(after?.name ?? ""),
            .int(max(0, limit))
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [ListedSender] {
        try result.rows { (row) throws(PostgresError) in
            ListedSender(
                vendor: try row.id("vendor"),
                id: try row.id("sender_id"),
                name: try row.text("name"),
                isEnrolled: try row.bool("is_enrolled"),
                enrolledName: try row.optionalText("enrolment_name"),
                address: try row.optionalText("address"),
                isProven: try row.bool("is_proven"),
                registeredAt: try row.time("created_at"),
                callbackURL: try row.optionalText("callback_url"),
                failures: try row.int("attempts"),
                failingSince: try row.optionalTime("failing_since"),
                failure: try row.optionalText("failure")
            )
        }
    }
}
