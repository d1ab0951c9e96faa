package import Model

/// The evidence that a batch of outcomes gives about its credential.
package enum CredentialSign: Sendable, Hashable {
    /// The peer answered and did not refuse the credential.
    case answered
    /// The peer refused the key, certificate or topic.
    case refused(Rejection)
    /// Nothing could be sent because the peer cannot be reached.
    case unreachable

    /// The sign of one batch; nil if the batch gives no evidence. A refusal outweighs answers, and an answer outweighs a missing connection.
    package init?(of batch: some Sequence<PushCompletion>) {
        var hasAnswer = false
        var hasSilence = false
        for completion in batch {
            switch completion.outcome {
            case .rejected(let rejection) where rejection.scope == .credential:
                self = .refused(rejection)
                return
            case .accepted, .rejected, .deferred: hasAnswer = true
            case .unsent(let error): hasSilence = hasSilence || error.code == .noConnection
            case .indeterminate: break
            }
        }
        if hasAnswer {
            self = .answered
        } else if hasSilence {
            self = .unreachable
        } else {
            return nil
        }
    }
}

/// Whether a slice may send through a credential now.
package enum Permit: Sendable, Hashable {
    case go
    /// One push only: its outcome decides for the other slices.
    case probe
    /// The number of pushes allowed at present: the credential has a rate, and the others must wait.
    case metered(Int)
    /// None for this long: the peer refused the credential or cannot be reached.
    case stopped(for: Duration)
    /// None for this long: the allowed number of slices already uses the credential.
    case full(for: Duration)

    /// Whether this permit gives the slice a place at the credential.
    var isPlace: Bool {
        switch self {
        case .go, .probe, .metered: true
        case .stopped, .full: false
        }
    }

    var isStopped: Bool {
        if case .stopped = self { true } else { false }
    }
}
