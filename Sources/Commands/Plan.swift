import Model
import Postgres

/// What one command asks of the store, and the reply that its answers make. Settled: it needs no store.
typealias Plan = StoreRequest<Reply>

/// What a command about users reads first; what is found makes its plan. Both are done again where another call changed a user in between.
typealias UserPlan = StoreRequest<Plan>

extension StoreRequest where Answer == Reply {
    static func refused(_ refusal: Refusal) -> Plan { .settled(.refused(refusal)) }
}

extension StoreRequest where Answer == Plan {
    static func refused(_ refusal: Refusal) -> UserPlan { .settled(Plan.refused(refusal)) }
}

/// What a rule may look at besides the command: values only.
struct RuleContext: Sendable {
    var call: CallScope
    var now: Timestamp
    var identifiers: any IdentifierSource
    var policy: CommandPolicy

    var scope: AppScope { AppScope(app: call.app, vendor: call.vendor) }
}
