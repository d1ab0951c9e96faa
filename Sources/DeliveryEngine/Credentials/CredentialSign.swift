package import Model

/// The evidence that a batch of outcomes gives about its credential and topic.
package enum CredentialSign: Sendable, Hashable {
    /// The peer answered and refused neither the credential nor the topic.
    case answered
    /// The peer refused the key or certificate.
    case refused(Rejection)
    /// The peer refused the topic but not the credential.
    case refusedTopic(Rejection)
    /// Nothing could be sent because the peer cannot be reached.
    case unreachable

    /// The sign of one batch of one route; nil if the batch gives no evidence. A refused credential outweighs a refused topic, a refusal outweighs answers,
    /// and an answer outweighs a missing connection.
    package init?(of batch: some Sequence<PushCompletion>) {
        var hasAnswer = false
        var hasSilence = false
        var refusal: Rejection?
        for completion in batch {
            switch completion.outcome {
            case .rejected(let rejection) where rejection.scope == .credential:
                self = .refused(rejection)
                return
            case .rejected(let rejection) where rejection.scope == .topic: refusal = refusal ?? rejection
            case .accepted, .rejected, .deferred: hasAnswer = true
            case .unsent(let error): hasSilence = hasSilence || error.code == .noConnection
            case .indeterminate: break
            }
        }
        if let refusal {
            self = .refusedTopic(refusal)
        } else if hasAnswer {
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
