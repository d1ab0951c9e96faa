package import Model

/// Devices, identities and senders.
enum RegistrationRules {
    static func plan(_ command: RegistrationCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .register(let registration): register(registration, context)
        case .updateToken(let key, let token, let environment): updateToken(key, token, environment, context)
        case .unregister(let selector): unregister(selector, context)
        case .registerSender(let name): registerSender(name, context)
        case .enrolSender(let id, let name, let address): enrolSender(id, name, address, context)
        case .setCallback(let id, let url): setCallback(id, url, context)
        case .requestVerification(let phone, _): VerificationRules.request(phone, context)
        case .verify(let phone, let code, let platform):
            VerificationRules.check(phone, code: code, platform: platform, context)
        case .enlist(let registration, let change): UserRules.enlist(registration, change, context)
        case .assign(let key, let change): UserRules.assign(key, change, context)
        case .standing(let key): UserRules.standing(key, context)
        case .drawKey: .settled(.registration(.drawn(VendorDeviceKey(context.identifiers.randomHex(byteCount: 16)))))
        case .listed(let filter, let from, let limit): listed(filter, from, limit, context)
        }
    }

    private static func register(_ registration: DeviceRegistration, _ context: RuleContext) -> Plan {
        if let field = registration.unstorableField { return .refused(.invalid(field)) }
        let ids = context.identifiers
        // 32 digits: as long as a random one, and no way back to the token.
        let derived =
            registration.derivesKey ? registration.token.map { ids.sha256(Array($0.text.utf8)).prefix(32) } : nil
        let key = registration.key ?? VendorDeviceKey(derived.map { String($0) } ?? ids.randomHex(byteCount: 16))
        let statement = StoreStatement.register(
            context.scope,
            key: key,
            registration,
            identity: IdentityID(rawValue: ids.uuid(at: context.now)),
            device: DeviceID(rawValue: ids.uuid(at: context.now)),
            at: context.now
        )
        let condition = registration.expected.map { [StoreStatement.expect(context.scope, key: key, attributes: $0)] }
        return Plan((condition ?? []) + [statement]) { answers in
            guard case .registered(let registered)? = answers.last else {
                return .refused(.unavailable(retryAfter: nil))
            }
            return .registration(.registered(registered))
        }
    }

    private static func listed(
        _ filter: IdentityFilter,
        _ from: VendorDeviceKey?,
        _ limit: Int,
        _ context: RuleContext
    ) -> Plan {
        // No list begins at what cannot be stored.
        guard Storable.isKey(from?.rawValue ?? "-") else { return .refused(.invalid("from")) }
        guard (1...CommandLimits.listedRows).contains(limit) else {
            return .refused(.tooMany("registrations", limit: CommandLimits.listedRows))
        }
        return Plan(.identities(context.scope, filter, from: from, limit: limit)) { answer in
            if case .identities(let found) = answer { .registration(.listed(found)) } else { nil }
        }
    }

    private static func updateToken(
        _ key: VendorDeviceKey,
        _ token: DeviceToken,
        _ environment: PushEnvironment?,
        _ context: RuleContext
    ) -> Plan {
        guard Storable.isKey(key.rawValue) else { return .refused(.unknownDevice) }
        return Plan(.updateToken(context.scope, key: key, token, environment, at: context.now)) { answer in
            guard case .count(let count) = answer else { return nil }
            return count > 0 ? .registration(.tokenUpdated) : .refused(.unknownDevice)
        }
    }

    private static func unregister(_ selector: IdentitySelector, _ context: RuleContext) -> Plan {
        let text =
            switch selector {
            case .key(let key): key.rawValue
            case .phone(let phone): phone
            }
        // What cannot be stored is not there: leaving is idempotent.
        guard Storable.isKey(text) else { return .settled(.registration(.unregistered(0))) }
        return Plan(.unregister(context.scope, selector, at: context.now)) { answer in
            if case .count(let count) = answer { .registration(.unregistered(count)) } else { nil }
        }
    }

    private static func registerSender(_ name: String, _ context: RuleContext) -> Plan {
        guard !name.isEmpty, Storable.fits(name, CommandLimits.nameBytes) else { return .refused(.invalid("name")) }
        return Plan(.registerSender(context.scope, name: name, id: newSender(context))) { answer in
            guard case .sender(let sender?) = answer else { return nil }
            return .registration(.sender(sender.id))
        }
    }

    /// `SVR` and a random UUID: the form that RationalOwl's clients have seen (protocols/rationalowl.md §8.1); to others it is opaque.
    private static func newSender(_ context: RuleContext) -> SenderID {
        let hex = Array(context.identifiers.randomHex(byteCount: 16))
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
            String(hex.enumerated().filter { range.contains($0.offset) }.map(\.element))
        }
        return SenderID("SVR" + parts.joined(separator: "-"))
    }

    private static func enrolSender(
        _ id: SenderID,
        _ name: String?,
        _ address: String?,
        _ context: RuleContext
    ) -> Plan {
        guard Storable.isKey(id.rawValue) else { return .refused(.unknownSender) }
        guard Storable.fits(name, CommandLimits.nameBytes) else { return .refused(.invalid("name")) }
        guard Storable.fits(address, CommandLimits.nameBytes) else { return .refused(.invalid("address")) }
        let key = context.identifiers.randomHex(byteCount: 16)
        return Plan(.enrolSender(context.scope, id, key: key, name: name, address: address)) { answer in
            guard case .sender(let sender) = answer else { return nil }
            guard let sender, let key = sender.enrolmentKey else { return .refused(.unknownSender) }
            return .registration(.enrolled(key: key, isNew: sender.isNew))
        }
    }

    private static func setCallback(_ id: SenderID, _ url: String?, _ context: RuleContext) -> Plan {
        guard Storable.isKey(id.rawValue) else { return .refused(.unknownSender) }
        if let url, !CallbackURL.isAcceptable(url) { return .refused(.invalid("url")) }
        return Plan(.setCallback(context.scope, id, url: url)) { answer in
            guard case .count(let count) = answer else { return nil }
            return count > 0 ? .registration(.callbackSet) : .refused(.unknownSender)
        }
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
        if !Storable.fits(.object(attributes), CommandLimits.attributeBytes) { return "attributes" }
        if let tags, tags.count(where: { !$0.isSystem }) > CommandLimits.tagsPerIdentity { return "tags" }
        if let tags, tags.count > CommandLimits.tagsPerIdentity + CommandLimits.systemTagsPerIdentity { return "tags" }
        if let zone = clock.timeZone, !zone.isKnown || zone.text.utf8.count > TimeZoneName.limitBytes {
            return "timeZone"
        }
        return nil
    }
}
