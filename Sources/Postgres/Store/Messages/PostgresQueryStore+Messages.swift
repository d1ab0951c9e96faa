package import Model
import PostgresClient

/// Reads messages, their deliveries and their counts.
extension PostgresQueryStore {
    /// Finds a message by its own id, or by the number that its vendor assigned.
    ///
    /// - Throws: `StoreError`.
    package func message(
        _ reference: String,
        in tenant: TenantID
    ) async throws(StoreError) -> MessageFacts? {
        let statement =
            if let id = MessageID(text: reference) {
                MessageSQL.messageByID(.id(tenant), .id(id))
            } else {
                MessageSQL.messageByReference(.id(tenant), .string(reference))
            }
        return try await asStore { () throws(PostgresError) in
            guard var message = try await call.run(statement, tenant: tenant.rawValue).rows(Self.message).first else {
                return nil
            }
            let counts = try await call.run(
                [
                    MessageSQL.funnel(.id(tenant), .int32(message.dueDay), .id(message.id)),
                    MessageSQL.dead(.id(tenant), .id(message.id)),
                ],
                tenant: tenant.rawValue
            )
            message.funnel = try FunnelRow.read(try counts.result(0).only(), recipients: message.recipients)
            message.dead = try counts.result(1).rows(Self.dead)
            return message
        }
    }

    static func message(_ row: Row) throws(PostgresError) -> MessageFacts {
        let recipients = try row.optionalInt("recipients")
        return MessageFacts(
            id: try row.id("message_id"),
            scope: AppScope(app: try row.id("app_id"), vendor: try row.id("vendor")),
            sender: try row.optionalID("sender_id"),
            state: try row.word("state"),
            lane: try row.lane("lane"),
            content: ContentCoding.decode(try row.object("content")),
            fallback: try row.optionalDocument("fallback"),
            collapseID: try row.optionalText("collapse_id"),
            acceptedAt: try row.time("accepted_at"),
            dueAt: try row.time("due_at"),
            localDue: try row.optionalInt("due_local").map { LocalTime(seconds: Int64($0)) },
            expiresAt: try row.time("expires_at"),
            dueDay: Int32(clamping: try row.int("due_day")),
            recipients: recipients,
            funnel: Funnel(recipients: recipients)
        )
    }

    private static func dead(_ row: Row) throws(PostgresError) -> DeadPart {
        DeadPart(reason: try row.text("reason"), slices: try row.int("slices"), targets: try row.int("targets"))
    }

    /// Returns a page of a message's settled deliveries, ordered by target.
    ///
    /// - Throws: `StoreError`.
    package func deliveries(
        of message: MessageID,
        in tenant: TenantID,
        state: DeliveryState? = nil,
        after: TargetID? = nil,
        limit: Int
    ) async throws(StoreError) -> [DeliveryFacts] {
        try await asStore { () throws(PostgresError) in
            let statement = MessageSQL.deliveries(
                .id(tenant),
                .id(message),
                .text(state?.rawValue),
                .id(after),
                .int(max(0, limit))
            )
            return try await call.run(statement, tenant: tenant.rawValue).rows(Self.delivery)
        }
    }

    static func delivery(_ row: Row) throws(PostgresError) -> DeliveryFacts {
        DeliveryFacts(
            snapshot: try SnapshotRow.read(row),
            device: try row.optionalID("device_id"),
            user: try row.optionalID("user_id"),
            transport: try row.optionalText("transport"),
            transportID: try row.optionalUUID("transport_id"),
            isCertain: try row.bool("is_certain"),
            attempts: try row.int("attempts"),
            payloadBytes: try row.int("payload_bytes"),
            reduced: try row.optionalText("reduced")
        )
    }

    /// Returns the counts per app, dialect and day of the messages due in `from..<to`, which are whole hours.
    ///
    /// - Throws: `StoreError`.
    package func funnel(
        in tenant: TenantID,
        app: AppID?,
        from: Timestamp,
        to: Timestamp
    ) async throws(StoreError) -> [FunnelDay] {
        try await asStore { () throws(PostgresError) in
            let statement = MessageSQL.analytics(
                .id(tenant),
                .id(app),
                .int32(Int32(clamping: from.seconds / 3600)),
                .int32(Int32(clamping: (to.seconds + 3599) / 3600))
            )
            return try await call.run(statement, tenant: tenant.rawValue).rows(Self.day)
        }
    }

    private static func day(_ row: Row) throws(PostgresError) -> FunnelDay {
        FunnelDay(
            app: try row.id("app_id"),
            vendor: try row.id("vendor"),
            day: Timestamp(seconds: try row.int64("day") * 86400),
            funnel: try FunnelRow.read(row, recipients: try row.int("recipients"))
        )
    }

    /// Returns messages, ordered by due time, the latest first. Their deliveries and failed parts are not counted.
    ///
    /// - Throws: `StoreError`.
    package func messages(
        in tenant: TenantID,
        app: AppID?,
        state: MessageState?,
        after: MessageID?,
        limit: Int
    ) async throws(StoreError) -> [MessageFacts] {
        let statement = MessageSQL.list(
            .id(tenant),
            .id(app),
            .text(state?.rawValue),
            .id(after),
            .int(max(0, limit))
        )
        return try await page(statement, in: tenant, Self.message)
    }
}

/// Reads rows of counts.
enum FunnelRow {
    /// Reads the counts from the columns of their names.
    static func read(_ row: Row, recipients: Int?) throws(PostgresError) -> Funnel {
        Funnel(
            recipients: recipients,
            sent: try row.int("sent"),
            received: try row.int("received"),
            read: try row.int("read"),
            failed: try row.int("failed"),
            suppressed: try row.int("suppressed"),
            expired: try row.int("expired"),
            canceled: try row.int("canceled")
        )
    }
}
