import Model
import Store

/// The operations that one command runs, and the reply built from their answers. A settled plan runs none.
typealias Plan = StoreRequest<Reply>

/// The reads of a command about users, whose answers give its plan. Both are repeated if another call changed a user in between.
typealias UserPlan = StoreRequest<Plan>

extension StoreRequest where Answer == Reply {
    static func refused(_ refusal: Refusal) -> Plan { .settled(.refused(refusal)) }
}

extension StoreRequest where Answer == Plan {
    static func refused(_ refusal: Refusal) -> UserPlan { .settled(Plan.refused(refusal)) }
}

/// The values that a rule may use in addition to the command. A class, so that a call which waits, and the plans of its commands, do not copy them.
final class RuleContext: Sendable {
    let call: CallScope
    let now: Timestamp
    let identifiers: any IdentifierSource
    let policy: CommandPolicy

    init(call: CallScope, now: Timestamp, identifiers: any IdentifierSource, policy: CommandPolicy) {
        self.call = call
        self.now = now
        self.identifiers = identifiers
        self.policy = policy
    }

    /// The settings of the call's binding about users.
    var identities: IdentitySettings { IdentitySettings(call.settings) }

    var scope: AppScope { AppScope(app: call.app, vendor: call.vendor) }

    /// Whether a send of the call reaches the identities of every dialect of the app.
    var crossesDialects: Bool { call.vendor == .native || call.settings.crossesDialects }
}
