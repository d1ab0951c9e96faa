import Model
import Store

/// The rules for the assignment of users to devices.
enum AssignmentRules {
    /// Performs `registration`, whose own user is ignored, and the change in one transaction.
    static func enlist(_ registration: DeviceRegistration, _ change: UserChange, _ context: RuleContext) -> Plan {
        guard let key = registration.key else { return .refused(.invalid("key")) }
        if let field = unstorableField(change) { return .refused(.invalid(field)) }
        switch RegistrationRules.request(registration, context) {
        case .failure(let refused): return .refused(refused.refusal)
        case .success(let request):
            let whole = request.map { (registered: $0, user: AssignedUser?.none) }
                .adding(assignment(key, change, registration.assurance, context)) { $0.user = $1 }
            return whole.map { answer in
                guard let user = answer.user else { return .refused(.unavailable(retryAfter: nil)) }
                return .registration(.enlisted(answer.registered, user))
            }
        }
    }

    static func assign(
        _ key: VendorDeviceKey,
        _ change: UserChange,
        _ assurance: Assurance,
        _ context: RuleContext
    ) -> Plan {
        guard Storable.isKey(key.rawValue) else { return .refused(.unknownDevice) }
        if let field = unstorableField(change) { return .refused(.invalid(field)) }
        return Plan(assignment(key, change, assurance, context)) { user in
            user.map { .registration(.assigned($0)) } ?? .refused(.unknownDevice)
        }
    }

    private static func assignment(
        _ key: VendorDeviceKey,
        _ change: UserChange,
        _ assurance: Assurance,
        _ context: RuleContext
    ) -> AssignUser {
        let moves = context.identities.moves
        return AssignUser(context.scope, key: key, change, assurance: assurance, moves: moves, at: context.now)
    }

    static func standing(_ key: VendorDeviceKey, _ context: RuleContext) -> Plan {
        guard Storable.isKey(key.rawValue) else { return .settled(.registration(.standing(nil))) }
        return Plan(FindStanding(context.scope, key: key)) { .registration(.standing($0)) }
    }

    private static func unstorableField(_ change: UserChange) -> String? {
        guard case .set(let user, let name, let phone, _) = change else { return nil }
        // The same limit as for addresses, so that the user can be addressed later.
        if !Storable.isKey(user.rawValue) { return "user" }
        if !Storable.fits(name, CommandLimits.nameBytes) { return "name" }
        return Storable.fits(phone, CommandLimits.keyBytes) ? nil : "phone"
    }
}
