package import Model

/// What a batch of outcomes says about the credential it went through.
package enum CredentialSign: Sendable, Hashable {
    /// The peer answered, and not to refuse the credential.
    case answered
    /// The peer refused the key, certificate or topic.
    case refused(Rejection)
    /// Nothing could be sent: the peer cannot be reached.
    case unreachable

    /// The sign of one batch, or nil when it says nothing: a refusal outweighs answers, an answer outweighs silence.
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
    /// One push only: its outcome decides for the others.
    case probe
    /// So many now: the credential has a rate, and the others must wait for more.
    case metered(Int)
    /// Not for so long: the peer refused the credential, or cannot be reached.
    case stopped(for: Duration)
    /// Not for so long: as many slices as allowed use it already.
    case full(for: Duration)

    /// Whether the slice holds a place at the credential with it.
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
