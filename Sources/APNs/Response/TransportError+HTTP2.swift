internal import HTTP2
internal import Model

extension Outcome {
    /// The outcome of a push whose request got no answer.
    ///
    /// The HTTP/2 layer reports whether it is certain that the peer did not process the request. This decides between `unsent` and `indeterminate`.
    init(_ error: HTTP2Error) {
        switch error.code {
        // The fault is in our own bytes, so sending them again cannot help.
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
    /// Converts the HTTP/2 layer's code into a code of `TransportError`; the original code becomes the detail.
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
        // All other errors broke an existing connection or stream.
        default: .reset
        }
    }
}
