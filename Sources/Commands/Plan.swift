import Model

/// What one command needs of the store, and what it makes of the answers. Without statements it is settled already.
struct Plan: Sendable {
    var statements: [StoreStatement]
    /// Called with one answer per statement.
    var reply: @Sendable ([StoreAnswer]) -> Reply

    init(_ statements: [StoreStatement], reply: @escaping @Sendable ([StoreAnswer]) -> Reply) {
        self.statements = statements
        self.reply = reply
    }

    /// One statement, one answer.
    init(_ statement: StoreStatement, reply: @escaping @Sendable (StoreAnswer) -> Reply?) {
        // A store that answers with another case has a bug: the caller is told to try again, and nothing traps.
        self.init([statement]) { answers in answers.first.flatMap(reply) ?? .refused(.unavailable(retryAfter: nil)) }
    }

    static func settled(_ reply: Reply) -> Plan { Plan([]) { _ in reply } }
    static func refused(_ refusal: Refusal) -> Plan { settled(.refused(refusal)) }
}

/// What a rule may look at besides the command: values only.
struct RuleContext: Sendable {
    var call: CallScope
    var now: Timestamp
    var identifiers: any IdentifierSource
    var policy: CommandPolicy

    var scope: AppScope { AppScope(app: call.app, vendor: call.vendor) }
}
