package import Model
import Store

/// The rules for devices and their identities.
enum RegistrationRules {
    static func plan(_ command: RegistrationCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .register(let registration): register(registration, context)
        case .updateToken(let key, let token, let environment): updateToken(key, token, environment, context)
        case .unregister(let selector): unregister(selector, context)
        case .requestVerification(let phone, _): VerificationRules.request(phone, context)
        case .verify(let phone, let code, let platform):
            VerificationRules.check(phone, code: code, platform: platform, context)
        case .enlist(let registration, let change): AssignmentRules.enlist(registration, change, context)
        case .assign(let key, let change, let assurance): AssignmentRules.assign(key, change, assurance, context)
        case .standing(let key): AssignmentRules.standing(key, context)
        case .drawKey: .settled(.registration(.drawn(VendorDeviceKey(context.identifiers.randomHex(byteCount: 16)))))
        case .listed(let filter, let from, let limit): listed(filter, from, limit, context)
        case .activity(let command): ActivityRules.plan(command, context)
        }
    }

    private static func register(_ registration: DeviceRegistration, _ context: RuleContext) -> Plan {
        switch request(registration, context) {
        case .failure(let refused): .refused(refused.refusal)
        case .success(let request): request.map { .registration(.registered($0)) }
        }
    }

    /// The request that registers a device, under its own key or a generated one.
    static func request(
        _ registration: DeviceRegistration,
        _ context: RuleContext
    ) -> Result<StoreRequest<Registered>, Refused> {
        if let field = registration.unstorableField { return .failure(Refused(.invalid(field))) }
        let ids = context.identifiers
        // 32 digits, as many as a random key has; the token cannot be derived from it.
        let derived =
            registration.derivesKey ? registration.token.map { ids.sha256(Array($0.text.utf8)).prefix(32) } : nil
        let key = registration.key ?? VendorDeviceKey(derived.map { String($0) } ?? ids.randomHex(byteCount: 16))
        let request = StoreRequest(
            RegisterDevice(
                context.scope,
                key: key,
                registration,
                identity: IdentityID(rawValue: ids.uuid(at: context.now)),
                device: DeviceID(rawValue: ids.uuid(at: context.now)),
                at: context.now,
                moves: context.identities.moves
            )
        )
        guard let expected = registration.expected else { return .success(request) }
        return .success(request.preceded(by: [ExpectAttributes(context.scope, key: key, attributes: expected)]))
    }

    private static func listed(
        _ filter: IdentityFilter,
        _ from: VendorDeviceKey?,
        _ limit: Int,
        _ context: RuleContext
    ) -> Plan {
        // A value that cannot be stored cannot be the start of a list.
        guard Storable.isKey(from?.rawValue ?? "-") else { return .refused(.invalid("from")) }
        guard (1...CommandLimits.listedRows).contains(limit) else {
            return .refused(.tooMany("registrations", limit: CommandLimits.listedRows))
        }
        return Plan(ListIdentities(context.scope, filter, from: from, limit: limit)) { .registration(.listed($0)) }
    }

    private static func updateToken(
        _ key: VendorDeviceKey,
        _ token: DeviceToken,
        _ environment: PushEnvironment?,
        _ context: RuleContext
    ) -> Plan {
        guard Storable.isKey(key.rawValue) else { return .refused(.unknownDevice) }
        return Plan(UpdateToken(context.scope, key: key, token, environment, at: context.now)) { count in
            count > 0 ? .registration(.tokenUpdated) : .refused(.unknownDevice)
        }
    }

    private static func unregister(_ selector: IdentitySelector, _ context: RuleContext) -> Plan {
        let text =
            switch selector {
            case .key(let key): key.rawValue
            case .phone(let phone): phone
            }
        // A value that cannot be stored is not registered, and unregistering is idempotent.
        guard Storable.isKey(text) else { return .settled(.registration(.unregistered(0))) }
        return Plan(UnregisterDevices(context.scope, selector)) { .registration(.unregistered($0)) }
    }
}

extension DeviceRegistration {
    /// The first field that cannot be stored; nil if all can.
    package var unstorableField: String? {
        if let key, !Storable.isKey(key.rawValue) { return "key" }
        if !Storable.fits(user?.rawValue, CommandLimits.nameBytes) { return "user" }
        if !Storable.fits(name, CommandLimits.nameBytes) { return "name" }
        if !Storable.fits(phone, CommandLimits.keyBytes) { return "phone" }
        if !Storable.fits(rawPhone, CommandLimits.keyBytes) { return "phone" }
        if !attributes.isEmpty, !Storable.fits(.object(attributes), CommandLimits.attributeBytes) {
            return "attributes"
        }
        if let tags, tags.count(where: { !$0.isSystem }) > CommandLimits.tagsPerIdentity { return "tags" }
        if let tags, tags.count > CommandLimits.tagsPerIdentity + CommandLimits.systemTagsPerIdentity { return "tags" }
        if let zone = clock.timeZone, !zone.isKnown || zone.text.utf8.count > TimeZoneName.limitBytes {
            return "timeZone"
        }
        return imported.unstorableField
    }
}

extension ImportedFacts {
    /// The name of a field that cannot be stored; nil if all can be.
    fileprivate var unstorableField: String? {
        guard consents.count <= CommandLimits.subjectsPerUser else { return "consents" }
        for consent in consents {
            guard Storable.isKey(consent.subject), Storable.fits(consent.source, CommandLimits.keyBytes) else {
                return "consents"
            }
        }
        if let groups, groups.count > Self.groupLimit || !groups.allSatisfy(Storable.isKey) { return "groups" }
        if let badge, badge < 0 { return "badge" }
        return nil
    }

    /// 1,000 groups per row: a row has at most 64 KiB.
    private static var groupLimit: Int { 1000 }
}
