import Commands
import Model

// Devices, identities, senders, verifications.
extension PostgresCommandStore {
    /// 32 registrations in one statement: each locks its key and its token, and 64 locks a session are what the server's table has room for by default.
    static var foldedRegistrations: Int { 32 }

    func register(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ key: VendorDeviceKey,
        _ registration: DeviceRegistration,
        _ identity: IdentityID,
        _ device: DeviceID,
        _ at: Timestamp
    ) -> StoreQuestion {
        let attributes = registration.attributes.isEmpty ? nil : JSON.object(registration.attributes)
        let parameters: [PostgresValue] = [
            .id(tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(key),
            .id(identity),
            .id(device),
            .text(registration.platform.rawValue),
            .text(registration.environment?.rawValue),
            .string(registration.token?.text),
            .id(registration.user),
            .string(registration.name),
            .string(registration.phone),
            .string(registration.rawPhone),
            .bool(registration.replacesSamePhone),
            .document(attributes),
            .time(at),
        ]
        let statement =
            if registration.clock != .unset {
                RegistrationSQL.registerTimed.with(
                    parameters + [registration.tags.map { .tags($0) } ?? .untyped(nil)]
                        + ClockRow.parameters(registration.clock)
                )
            } else if let tags = registration.tags {
                RegistrationSQL.registerTagged.with(parameters + [.tags(tags)])
            } else {
                RegistrationSQL.register.with(parameters)
            }
        var fold: Fold?
        // What looks for others than the device's holders goes alone.
        if registration.clock == .unset, registration.tags == nil, !registration.replacesSamePhone {
            fold = Fold(
                sql: RegistrationSQL.registerMany.text,
                shared: [.id(tenant), .id(scope.app), .id(scope.vendor)],
                row: [
                    .id(key), .id(identity), .id(device), .text(registration.platform.rawValue),
                    .text(registration.environment?.rawValue), .string(registration.token?.text),
                    .id(registration.user),
                    .string(registration.name), .string(registration.phone), .string(registration.rawPhone),
                    .string(attributes.map { DocumentText.of($0) }), .time(at),
                ],
                subject: key.rawValue,
                limit: Self.foldedRegistrations
            )
        }
        return StoreQuestion(statement, fold: fold) { (result) throws(PostgresError) in
            let row = try result.only()
            return .registered(
                Registered(
                    identity: try row.id("identity_id"),
                    device: try row.id("device_id"),
                    key: key,
                    platform: try row.word("platform"),
                    wasActive: try row.bool("was_active"),
                    replaced: try row.uuids("replaced").map { IdentityID($0) }
                )
            )
        }
    }

    func updateToken(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ key: VendorDeviceKey,
        _ token: DeviceToken,
        _ environment: PushEnvironment?,
        _ at: Timestamp
    ) -> StoreQuestion {
        .counting(
            RegistrationSQL.updateToken(
                .id(tenant),
                .id(scope.app),
                .id(scope.vendor),
                .id(key),
                .text(environment?.rawValue),
                .string(token.text),
                .time(at)
            )
        )
    }

    func unregister(_ tenant: TenantID, _ scope: AppScope, _ selector: IdentitySelector) -> StoreQuestion {
        var key: VendorDeviceKey?
        var phone: String?
        switch selector {
        case .key(let value): key = value
        case .phone(let value): phone = value
        }
        return .counting(
            RegistrationSQL.unregister(.id(tenant), .id(scope.app), .id(scope.vendor), .id(key), .string(phone))
        )
    }

    func identity(_ tenant: TenantID, _ scope: AppScope, _ key: VendorDeviceKey) -> StoreQuestion {
        StoreQuestion(
            RegistrationSQL.identity(.id(tenant), .id(scope.app), .id(scope.vendor), .id(key))
        ) { (result) throws(PostgresError) in
            guard let row = result.first else { return .identity(nil) }
            return .identity(
                IdentityFacts(
                    identity: try row.id("identity_id"),
                    device: try row.optionalID("device_id"),
                    state: try row.word("state"),
                    platform: try row.word("platform"),
                    phone: try row.optionalText("phone")
                )
            )
        }
    }

    func registerSender(_ tenant: TenantID, _ scope: AppScope, _ name: String, _ id: SenderID) -> StoreQuestion {
        Self.sender(
            RegistrationSQL.registerSender(.id(tenant), .id(scope.app), .id(scope.vendor), .string(name), .id(id))
        )
    }

    func sender(_ tenant: TenantID, _ scope: AppScope, _ id: SenderID) -> StoreQuestion {
        Self.sender(RegistrationSQL.sender(.id(tenant), .id(scope.app), .id(scope.vendor), .id(id)))
    }

    func enrol(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ id: SenderID,
        key: String,
        name: String?,
        address: String?
    ) -> StoreQuestion {
        Self.sender(
            RegistrationSQL.enrol(
                .id(tenant),
                .id(scope.app),
                .id(scope.vendor),
                .id(id),
                .string(key),
                .string(name),
                .string(address)
            ),
            offering: key
        )
    }

    /// Reads a sender. `key` is new and random: where the row holds it, this statement put it there.
    private static func sender(_ statement: Statement, offering key: String? = nil) -> StoreQuestion {
        StoreQuestion(statement) { (result) throws(PostgresError) in
            guard let row = result.first else { return .sender(nil) }
            let enrolment = try row.optionalText("enrolment_key")
            return .sender(
                SenderFacts(
                    id: try row.id("sender_id"),
                    enrolmentKey: enrolment,
                    isNew: key != nil && enrolment == key,
                    callbackURL: try row.optionalText("callback_url")
                )
            )
        }
    }

    func setCallback(_ tenant: TenantID, _ scope: AppScope, _ id: SenderID, _ url: String?) -> StoreQuestion {
        .counting(
            RegistrationSQL.setCallback(.id(tenant), .id(scope.app), .id(scope.vendor), .id(id), .string(url))
        )
    }

    func putVerification(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ phone: String,
        _ codeHash: String,
        _ limits: VerificationLimits,
        _ at: Timestamp
    ) -> StoreQuestion {
        Self.permitting(
            RegistrationSQL.putVerification(
                .id(tenant),
                .id(scope.app),
                .id(scope.vendor),
                .string(phone),
                .string(codeHash),
                .interval(limits.resendAfter),
                .int32(Int32(clamping: limits.perHour)),
                .time(at)
            )
        )
    }

    func checkVerification(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ phone: String,
        _ codeHash: String,
        _ limits: VerificationLimits,
        _ at: Timestamp
    ) -> StoreQuestion {
        Self.permitting(
            RegistrationSQL.checkVerification(
                .id(tenant),
                .id(scope.app),
                .id(scope.vendor),
                .string(phone),
                .string(codeHash),
                .interval(limits.validFor),
                .int32(Int32(clamping: limits.maximumTries)),
                .time(at)
            )
        )
    }

    private static func permitting(_ statement: Statement) -> StoreQuestion {
        StoreQuestion(statement) { (result) throws(PostgresError) in
            .permitted(try result.only().bool("permitted"), platform: nil)
        }
    }
}
