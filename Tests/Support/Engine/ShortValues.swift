package import FoundationEssentials
package import Model

// Short forms of values for tests of the engine.
extension Outcome {
    package static let yes = Outcome.accepted(TransportMessageID("id"))
    package static let lost = Outcome.indeterminate(TransportError(.reset))

    package static func rejected(_ scope: Rejection.Scope, _ reason: String, _ status: Int = 400) -> Outcome {
        .rejected(Rejection(scope: scope, reason: reason, status: status))
    }

    package static func busy(_ status: Int = 503, after: Duration? = nil) -> Outcome {
        .deferred(Rejection(scope: .service, reason: "ServiceUnavailable", status: status), after: after)
    }

    package static func notSent(_ code: TransportError.Code) -> Outcome { .unsent(TransportError(code)) }
}

extension UUID {
    /// A UUID that is easy to recognize in a failure: `number` is in its last bytes.
    package static func numbered(_ number: Int) -> UUID {
        UUID(bytes: [UInt8](repeating: 0, count: 12) + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) })
            ?? UUID()
    }
}
