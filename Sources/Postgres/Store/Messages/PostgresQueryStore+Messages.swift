package import Model
import PostgresClient

/// Reads messages, their deliveries and their counts.
extension PostgresQueryStore {
    /// Finds a message by its own id, or by the name that its vendor or an upstream has given it.
    ///
    /// - Throws: `StoreError`.
    package func message(
        _ reference: String,
        in tenant: TenantID
    ) async throws(StoreError) -> MessageFacts? {
        return try await asStore { () throws(PostgresError) in
            guard let row = try await row(of: reference, in: tenant) else { return nil }
            var message = try Self.message(row)
            let counts = try await call.run(
                [Self.counting(message, in: tenant), MessageSQL.dead(.id(tenant), .id(message.id))],
                tenant: tenant.rawValue
            )
            message.funnel = try FunnelRow.read(try counts.result(0).only(), recipients: message.recipients)
            message.isCounted = true
            message.dead = try counts.result(1).rows(Self.dead)
            return message
        }
    }

    private func row(of reference: String, in tenant: TenantID) async throws(PostgresError) -> Row? {
        var reference = reference
        if let id = MessageID(text: reference) {
            let own = try await call.run(MessageSQL.messageByID(.id(tenant), .id(id)), tenant: tenant.rawValue)
            if let row = own.first { return row }
            // An upstream may name its messages by UUIDs.
            reference = id.description
        }
        let named = MessageSQL.messageByReference(.id(tenant), .string(reference))
        return try await call.run(named, tenant: tenant.rawValue).first
    }

    private static func counting(_ message: MessageFacts, in tenant: TenantID) -> Statement {
        message.hasOwnCounts
            ? MessageSQL.countedFunnel(.id(tenant), .id(message.id))
            : MessageSQL.funnel(.id(tenant), .int32(message.dueDay), .id(message.id))
    }

    /// Counts the deliveries of messages of a list, in one round trip.
    ///
    /// - Throws: `StoreError`.
    package func counted(
        _ messages: [MessageFacts],
        in tenant: TenantID
    ) async throws(StoreError) -> [MessageFacts] {
        guard !messages.isEmpty else { return [] }
        return try await asStore { () throws(PostgresError) in
            let counts = try await call.run(
                messages.map { Self.counting($0, in: tenant) },
                tenant: tenant.rawValue
            )
            var counted = messages
            for place in counted.indices {
                let row = try counts.result(place).only()
                counted[place].funnel = try FunnelRow.read(row, recipients: counted[place].recipients)
                counted[place].isCounted = true
            }
            return counted
        }
    }

    static func message(_ row: Row) throws(PostgresError) -> MessageFacts {
        let recipients = try row.optionalInt("recipients")
        return MessageFacts(
            id: try row.id("message_id"),
            scope: AppScope(app: try row.id("app_id"), vendor: try row.id("vendor")),
            sender: try row.optionalID("sender_id"),
            submitter: try row.optionalText("submitted_by"),
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
            funnel: Funnel(recipients: recipients),
            hasOwnCounts: try row.bool("is_counted")
        )
    }

    private static func dead(_ row: Row) throws(PostgresError) -> DeadPart {
        DeadPart(reason: try row.text("reason"), slices: try row.int("slices"), targets: try row.int("targets"))
    }

    /// Returns a page of a message's settled deliveries, ordered by target. With a state, it is searched among the next `PageSearch.limit` deliveries.
    ///
    /// - Throws: `StoreError`.
    package func deliveryPage(
        of message: MessageID,
        in tenant: TenantID,
        state: DeliveryState? = nil,
        after: TargetID? = nil,
        limit: Int
    ) async throws(StoreError) -> LookPage<DeliveryFacts, TargetID> {
        let key: [PostgresValue] = [.id(tenant), .id(message), .id(after ?? .least)]
        let look = PageSearch.rows(limit, isFiltered: state != nil)
        let page = MessageSQL.deliveries.with(key + [.int(look), .text(state?.rawValue), .int(max(0, limit))])
        let end = MessageSQL.deliveriesEnd.with(key + [.int(look)])
        return try await asStore { () throws(PostgresError) in
            let found = try await call.searched(page, end: state == nil ? nil : end, in: tenant) {
                (row) throws(PostgresError) in try row.id("target_id") as TargetID
            }
            let deliveries = try found.page.rows(Self.delivery)
            return LookPage(deliveries, limit: limit, end: found.end, id: \.snapshot.target)
        }
    }

    /// The deliveries of `deliveryPage`.
    ///
    /// - Throws: `StoreError`.
    package func deliveries(
        of message: MessageID,
        in tenant: TenantID,
        state: DeliveryState? = nil,
        after: TargetID? = nil,
        limit: Int
    ) async throws(StoreError) -> [DeliveryFacts] {
        try await deliveryPage(of: message, in: tenant, state: state, after: after, limit: limit).items
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
            reduced: try row.optionalText("reduced"),
            deviceVendor: try row.optionalID("device_vendor"),
            latency: try row.optionalInt("transport_ms")
        )
    }

    /// Returns messages, ordered by due time, the latest first. Their deliveries and failed parts are not counted. With a state, it is searched among the
    /// next `PageSearch.limit` messages.
    ///
    /// - Throws: `StoreError`.
    package func messages(
        in tenant: TenantID,
        app: AppID?,
        state: MessageState?,
        after: MessageID?,
        limit: Int
    ) async throws(StoreError) -> LookPage<MessageFacts, MessageID> {
        let key: [PostgresValue] = [.id(tenant), .id(after ?? .greatest)]
        let look = PageSearch.rows(limit, isFiltered: state != nil)
        let ofApp: [PostgresValue] = app.map { [.id($0)] } ?? []
        let page = (app == nil ? MessageSQL.list : MessageSQL.listOfApp)
            .with(key + [.int(look), .text(state?.rawValue), .int(max(0, limit))] + ofApp)
        let end = (app == nil ? MessageSQL.listEnd : MessageSQL.listEndOfApp).with(key + [.int(look)] + ofApp)
        return try await asStore { () throws(PostgresError) in
            let found = try await call.searched(page, end: state == nil ? nil : end, in: tenant) {
                (row) throws(PostgresError) in try row.id("message_id") as MessageID
            }
            let messages = try found.page.rows(Self.message)
            return LookPage(messages, limit: limit, end: found.end, id: \.id, isDescending: true)
        }
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
