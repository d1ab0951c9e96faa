import Model

/// Whose a device is.
enum UserRules {
    /// `registration`, whose own user is not looked at, and the change, in one transaction.
    static func enlist(_ registration: DeviceRegistration, _ change: UserChange, _ context: RuleContext) -> Plan {
        guard let key = registration.key else { return .refused(.invalid("key")) }
        if let field = unstorableField(change) { return .refused(.invalid(field)) }
        let first = RegistrationRules.plan(.register(registration), context)
        guard !first.statements.isEmpty else { return first }
        let statements = first.statements + [.assignUser(context.scope, key: key, change)]
        return Plan(statements) { answers in
            guard case .registered(let registered)? = answers.dropLast().last, case .assigned(let user?)? = answers.last
            else {
                return .refused(.unavailable(retryAfter: nil))
            }
            return .registration(.enlisted(registered, user))
        }
    }

    static func assign(_ key: VendorDeviceKey, _ change: UserChange, _ context: RuleContext) -> Plan {
        guard Storable.isKey(key.rawValue) else { return .refused(.unknownDevice) }
        if let field = unstorableField(change) { return .refused(.invalid(field)) }
        return Plan(.assignUser(context.scope, key: key, change)) { answer in
            guard case .assigned(let user) = answer else { return nil }
            return user.map { .registration(.assigned($0)) } ?? .refused(.unknownDevice)
        }
    }

    static func standing(_ key: VendorDeviceKey, _ context: RuleContext) -> Plan {
        guard Storable.isKey(key.rawValue) else { return .settled(.registration(.standing(nil))) }
        return Plan(.standing(context.scope, key: key)) { answer in
            if case .standing(let standing) = answer { .registration(.standing(standing)) } else { nil }
        }
    }

    private static func unstorableField(_ change: UserChange) -> String? {
        guard case .set(let user, let name, let phone, _) = change else { return nil }
        // As long as what may be addressed later.
        if !Storable.isKey(user.rawValue) { return "user" }
        if !Storable.fits(name, CommandLimits.nameBytes) { return "name" }
        return Storable.fits(phone, CommandLimits.keyBytes) ? nil : "phone"
    }
}
