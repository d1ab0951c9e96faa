internal import HTTP2
internal import Model

extension Outcome {
    /// What a request without an answer means for its push.
    ///
    /// The HTTP/2 layer knows whether the peer surely did nothing; that decides between `unsent` and `indeterminate`.
    init(_ error: HTTP2Error) {
        switch error.code {
        // Our own bytes: sending them again cannot help.
        case .invalidRequest:
            self = .rejected(Rejection(scope: .content, reason: "InvalidRequest", status: 0))
        case .requestTooLarge:
            self = .rejected(Rejection(scope: .content, reason: APNsReason.payloadTooLarge.wireName, status: 0))
        default:
            let cause = TransportError(error)
            self = error.isUnsent ? .unsent(cause) : .indeterminate(cause)
        }
    }
}

extension TransportError {
    /// The HTTP/2 layer's code in the words of the transport seam; its own stays as the detail.
    init(_ error: HTTP2Error) {
        self.init(Self.code(of: error.code), error.code.description)
    }

    private static func code(of code: HTTP2Error.Code) -> TransportError.Code {
        switch code {
        case .refusedStream, .noCapacity: .refused
        case .goAway, .streamsExhausted: .goingAway
        case .deadlineExceeded: .timedOut
        case .canceled: .canceled
        case .resolveFailed, .connectFailed, .connectTimeout, .tlsTimeout, .tlsFailed, .certificateRejected, .noALPN:
            .noConnection
        // Everything else broke a connection or a stream that was there.
        default: .reset
        }
    }
}
