package import Model
import PostgresClient

/// The objects that a text names, as one kind of name.
package struct FoundObjects: Sendable, Hashable {
    package var kind: FindKind
    package var messages: [FoundMessage] = []
    package var devices: [FoundDevice] = []
    package var users: [FoundUser] = []
    /// Whether there are more objects, which are not returned.
    package var isCut = false

    package var isEmpty: Bool { messages.isEmpty && devices.isEmpty && users.isEmpty }
    package var count: Int { messages.count + devices.count + users.count }

    /// 20 per kind of name: a person reads them.
    package static let limit = 20
}

/// A message, without its content.
package struct FoundMessage: Sendable, Hashable {
    package var id: MessageID
    package var scope: AppScope
    package var state: MessageState
    package var dueAt: Timestamp
}

/// A device with the identities that were found. An identity may have lost its device.
package struct FoundDevice: Sendable, Hashable {
    package struct Identity: Sendable, Hashable {
        package var id: IdentityID
        package var vendor: Vendor
        package var key: VendorDeviceKey
        package var state: IdentityState
        package var user: UserID?
    }

    package var id: DeviceID?
    package var app: AppID
    package var destination: PushDestination?
    package var seenAt: Timestamp?
    package var identities: [Identity]
}

/// A user whom a back end described.
package struct FoundUser: Sendable, Hashable {
    package var scope: AppScope
    package var user: UserID
}

extension PostgresQueryStore {
    /// Returns the objects that a text names, by kind of name; kinds without an object are omitted. `app` nil: of every app.
    ///
    /// - Throws: `StoreError`.
    package func find(_ text: FindText, app: AppID?, in tenant: TenantID) async throws(StoreError) -> [FoundObjects] {
        let kinds = text.kinds
        let statements = kinds.map { Self.statement($0, text, [.id(tenant), .id(app)]) }
        return try await asStore { () throws(PostgresError) in
            let profiles = FindSQL.profiles(.id(tenant), .id(app), .string(text.text), .int(FoundObjects.limit + 1))
            let results = try await call.run(statements + [profiles], tenant: tenant.rawValue)
            var found: [FoundObjects] = []
            for (place, kind) in kinds.enumerated() {
                var objects = try Self.objects(kind, try results.result(place))
                if kind == .user { try Self.add(try results.result(kinds.count), to: &objects) }
                if !objects.isEmpty { found.append(objects) }
            }
            return found
        }
    }

    private static func statement(_ kind: FindKind, _ text: FindText, _ start: [PostgresValue]) -> Statement {
        // One more than is returned, to know whether there are more.
        let limit = PostgresValue.int(FoundObjects.limit + 1)
        return switch kind {
        case .message: FindSQL.message.with(start + [.id(MessageID(text: text.text)), limit])
        case .messageNumber: FindSQL.messageNumber.with(start + [.string(text.text), limit])
        case .device: FindSQL.device.with(start + [.id(DeviceID(text: text.text)), limit])
        case .identity: FindSQL.identity.with(start + [.id(IdentityID(text: text.text)), limit])
        case .token: FindSQL.token.with(start + [.string(text.token?.text), limit])
        case .key: FindSQL.key.with(start + [.string(text.text), limit])
        case .phone: FindSQL.phone.with(start + [.string(text.phone), limit])
        case .user: FindSQL.user.with(start + [.string(text.text), limit])
        }
    }

    private static func objects(_ kind: FindKind, _ result: ResultSet) throws(PostgresError) -> FoundObjects {
        var objects = FoundObjects(kind: kind)
        let rows = result.prefix(FoundObjects.limit)
        objects.isCut = result.count > FoundObjects.limit
        switch kind {
        case .message, .messageNumber:
            for row in rows {
                objects.messages.append(
                    FoundMessage(
                        id: try row.id("message_id"),
                        scope: AppScope(app: try row.id("app_id"), vendor: try row.id("vendor")),
                        state: try row.word("state"),
                        dueAt: try row.time("due_at")
                    )
                )
            }
        case .device, .identity, .token, .key, .phone, .user:
            for row in rows { try add(row, to: &objects.devices) }
        }
        return objects
    }

    /// Adds a row of an identity to its device. Identities without a device are entries of their own.
    private static func add(_ row: Row, to devices: inout [FoundDevice]) throws(PostgresError) {
        let id: DeviceID? = try row.optionalID("device_id")
        let identity = try row.isNull("identity_id") ? nil : try Self.identity(row)
        if id != nil, let place = devices.firstIndex(where: { $0.id == id }) {
            if let identity { devices[place].identities.append(identity) }
            return
        }
        var device = FoundDevice(id: id, app: try row.id("app_id"), identities: identity.map { [$0] } ?? [])
        if id != nil {
            device.destination = PushDestination(
                platform: try row.word("platform"),
                environment: try row.word("environment"),
                token: try row.optionalText("token").map { DeviceToken(stored: $0) },
                tokenState: try row.word("token_state")
            )
            device.seenAt = try row.optionalTime("seen_at")
        }
        devices.append(device)
    }

    private static func identity(_ row: Row) throws(PostgresError) -> FoundDevice.Identity {
        FoundDevice.Identity(
            id: try row.id("identity_id"),
            vendor: try row.id("vendor"),
            key: try row.id("key"),
            state: try row.word("state"),
            user: try row.optionalID("user_id")
        )
    }

    private static func add(_ profiles: ResultSet, to objects: inout FoundObjects) throws(PostgresError) {
        for row in profiles.prefix(FoundObjects.limit) {
            let scope = AppScope(app: try row.id("app_id"), vendor: try row.id("vendor"))
            objects.users.append(FoundUser(scope: scope, user: try row.id("user_id")))
        }
        if profiles.count > FoundObjects.limit { objects.isCut = true }
    }
}
