import NIOConcurrencyHelpers

/// What all connections and the control port share: the rules, the script and the ledger.
///
/// Each part sits in its own lock; a connection takes the ledger's once per turn of its event loop, not once per push.
final class SimulatorState: Sendable {
    let configuration: SimulatorConfiguration
    let ruleBook: RuleBook

    private let ledger: NIOLockedValueBox<Ledger>
    private let script = NIOLockedValueBox(ScriptBook())
    private let rates = NIOLockedValueBox(PushRateGuard())

    init(_ configuration: SimulatorConfiguration) {
        self.configuration = configuration
        var settings = RuleBook.Settings(keys: configuration.keys, environment: configuration.environment)
        settings.refusesUndeliverablePayloads = configuration.refusesUndeliverablePayloads
        settings.wedgesOnExpiredToken = configuration.wedgesOnExpiredToken
        ruleBook = RuleBook(settings)
        ledger = NIOLockedValueBox(
            Ledger(
                recordLimit: configuration.recordedRequestLimit,
                trackedLimit: configuration.trackedDeliveryLimit
            )
        )
    }

    /// What the rules may ask about device tokens.
    var deviceFacts: DeviceFacts {
        let limit = configuration.pushesPerTokenAndSecond
        return DeviceFacts(
            scriptedAnswer: { [script] token in script.withLockedValue { $0.take(token) } },
            isOverRate: { [rates] token, now in
                guard let limit else { return false }
                return rates.withLockedValue { $0.isOver(limit, token: token, now: now) }
            }
        )
    }

    /// Reads or changes the ledger.
    func withLedger<Value: Sendable>(_ body: (inout Ledger) -> Value) -> Value {
        ledger.withLockedValue(body)
    }

    /// Adds scripted answers.
    ///
    /// - Throws: `SimulatorError` when the mode does not play them or there are too many.
    func addScript(_ answers: [ScriptedAnswer]) throws(SimulatorError) {
        if configuration.mode == .accept {
            throw SimulatorError(.script, "In mode accept no token is looked at: start with --mode validate or script.")
        }
        if configuration.mode == .validate, answers.contains(where: { $0.fault != nil }) {
            throw SimulatorError(.script, "Faults are played in --mode script only.")
        }
        let failure: SimulatorError? = script.withLockedValue { book in
            do throws(SimulatorError) {
                try book.add(answers)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// How many scripted answers are left.
    var scriptedCount: Int { script.withLockedValue(\.count) }

    /// Forgets the script.
    func clearScript() { script.withLockedValue { $0 = ScriptBook() } }

    /// Forgets the script and everything that was counted and recorded. Connections stay.
    func reset() {
        clearScript()
        rates.withLockedValue { $0 = PushRateGuard() }
        withLedger { $0.reset() }
    }
}
