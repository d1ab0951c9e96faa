package import Model
package import PostgresClient
package import Store

/// A message that a device has not fetched, for the export of a tenant. Images, pages and the place in a trace are not part of it.
package struct UnreadMessage: Sendable, Hashable {
    /// 100 messages of a device: the newest. A device fetches at most 50 at a time.
    package static let limit = 100

    package var key: VendorDeviceKey
    package var message: MessageID
    /// The number of the message in the dialect of the device; nil: it has none.
    package var number: String?
    package var content: Content
    package var collapseID: String?
    package var dueAt: Timestamp
    package var expiresAt: Timestamp
    /// The values of the placeholders of the device's user.
    package var variables: JSONObject

    package init(
        key: VendorDeviceKey,
        message: MessageID,
        number: String? = nil,
        content: Content,
        collapseID: String? = nil,
        dueAt: Timestamp,
        expiresAt: Timestamp,
        variables: JSONObject = JSONObject()
    ) {
        self.key = key
        self.message = message
        self.number = number
        self.content = content
        self.content.media = nil
        self.content.page = nil
        self.collapseID = collapseID
        self.dueAt = dueAt
        self.expiresAt = expiresAt
        self.variables = variables
    }

    /// The content as a line of a file has it.
    package var document: JSON { ContentCoding.encode(content) }

    /// The content of a line of a file.
    package static func content(_ document: JSONObject) -> Content { ContentCoding.decode(document) }
}

/// Stores messages that devices have not fetched at another gateway. Returns the outcome of each.
package struct ImportUnread: StoreWrite {
    package enum Outcome: String, Sendable, Hashable {
        case new
        /// The device has the message.
        case known
        /// No active device has the key.
        case unknown
        /// The number or the id belongs to another message, which stays.
        case taken
    }

    let scope: AppScope
    let messages: [UnreadMessage]

    /// - Parameters:
    ///   - scope: the app, and the dialect of the devices.
    ///   - messages: no device has a message twice.
    package init(_ scope: AppScope, _ messages: [UnreadMessage]) {
        self.scope = scope
        self.messages = messages
    }

    private static let sql = StoreSQL.function("import_unread", 11, columns: "import_unread AS outcomes")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(
            call.owner(scope) + [
                .strings(messages.map(\.key.rawValue)), .ids(messages.map(\.message)),
                .strings(messages.map(\.number)), .strings(messages.map { JSONWriter.text($0.document) }),
                .strings(messages.map(\.collapseID)), .times(messages.map(\.dueAt)),
                .times(messages.map(\.expiresAt)),
                .strings(messages.map { $0.variables.isEmpty ? nil : JSONWriter.text(.object($0.variables)) }),
            ]
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [Outcome] {
        try result.only().texts("outcomes").compactMap { Outcome(rawValue: $0) }
    }
}

extension PostgresTransferStore {
    /// 20 devices per statement: at most 2,000 messages in memory.
    private static let deviceCount = 20

    private static let keys = StoreSQL.tenant(
        """
        SELECT i.identity_id, i.key FROM gateway.identity i
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.key > $4 AND i.vendor = $3 AND i.state = 'active' AND i.device_id IS NOT NULL
        ORDER BY i.key LIMIT $5
        """
    )

    private static let unread = StoreSQL.tenant(
        """
        SELECT u.key, m.message_id, m.content, m.collapse_id, m.due_at, m.expires_at, v.variables,
            (SELECT r.ref FROM gateway.message_ref r
                WHERE r.tenant_id = $1 AND r.message_id = m.message_id AND r.app_id = m.app_id AND r.vendor = $4
                ORDER BY r.ref LIMIT 1) AS number
        FROM unnest($2::uuid[], $3::text[]) WITH ORDINALITY AS u(id, key, place)
        CROSS JOIN LATERAL (
            SELECT x.message_id FROM gateway.inbox_open x
            WHERE x.tenant_id = $1 AND x.identity_id = u.id ORDER BY x.message_id DESC LIMIT \(UnreadMessage.limit)) AS o
        JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = o.message_id
        JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = u.id
        LEFT JOIN gateway.message_variable v
            ON v.tenant_id = $1 AND v.message_id = m.message_id AND v.user_id = i.user_id
        ORDER BY u.place, o.message_id
        """
    )

    /// The messages that devices have not fetched, in the order of the devices' keys, and the key of the last device. Nil: there are no further devices.
    ///
    /// - Throws: `StoreError`.
    package func unread(
        of scope: AppScope,
        in tenant: TenantID,
        after: VendorDeviceKey?
    ) async throws(StoreError) -> (messages: [UnreadMessage], last: VendorDeviceKey)? {
        let statement = Self.keys.with(PostgresQueryStore.key(tenant, scope, after?.rawValue, Self.deviceCount))
        return try await asStore {
            () throws(PostgresError) -> (messages: [UnreadMessage], last: VendorDeviceKey)? in
            let devices = try await call.run(statement, tenant: tenant.rawValue)
            var (ids, keys): ([IdentityID], [VendorDeviceKey]) = ([], [])
            for row in devices {
                ids.append(try row.id("identity_id"))
                keys.append(try row.id("key"))
            }
            guard let last = keys.last else { return nil }
            let found = Self.unread(
                .id(tenant),
                .ids(ids),
                .strings(keys.map(\.rawValue)),
                .id(scope.vendor)
            )
            let messages = try await call.run(found, tenant: tenant.rawValue).rows { (row) throws(PostgresError) in
                UnreadMessage(
                    key: try row.id("key"),
                    message: try row.id("message_id"),
                    number: try row.optionalText("number"),
                    content: ContentCoding.decode(try row.object("content")),
                    collapseID: try row.optionalText("collapse_id"),
                    dueAt: try row.time("due_at"),
                    expiresAt: try row.time("expires_at"),
                    variables: try row.object("variables")
                )
            }
            return (messages: messages, last: last)
        }
    }
}
