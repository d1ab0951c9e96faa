/// Why a credential cannot be used, or why no provider token is available. An answer of APNs is never an error: see `Outcome`.
package struct APNsError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The kind of error. A struct over a private enum, so that new codes do not break a caller's `switch`.
    package struct Code: Sendable, Hashable {
        private enum Value: String {
            case badKey, badIdentifier, badCertificate, badEndpoint, badTrustRoots, signingFailed, tokenUnavailable,
                tokenTooYoung
            case tooManyCredentials, shutDown, noCredential, noChannelEndpoint, system
        }
        private let value: Value

        /// The .p8 is not a P-256 private key in PEM.
        package static let badKey = Code(value: .badKey)
        /// A team or key id contains characters that are not allowed in it.
        package static let badIdentifier = Code(value: .badIdentifier)
        /// OpenSSL does not accept the certificate and its key.
        package static let badCertificate = Code(value: .badCertificate)
        /// The endpoint is not `https://host[:port]`.
        package static let badEndpoint = Code(value: .badEndpoint)
        /// The trust roots are not certificates in PEM.
        package static let badTrustRoots = Code(value: .badTrustRoots)
        /// OpenSSL could not sign a provider token.
        package static let signingFailed = Code(value: .signingFailed)
        /// The store that shares provider tokens could not be reached.
        package static let tokenUnavailable = Code(value: .tokenUnavailable)
        /// The peer refuses a token that is too young to be replaced: one of the clocks is wrong. See `retryAfter`.
        package static let tokenTooYoung = Code(value: .tokenTooYoung)
        /// `APNsLimits.maxCredentials` is reached.
        package static let tooManyCredentials = Code(value: .tooManyCredentials)
        /// The transport has been shut down.
        package static let shutDown = Code(value: .shutDown)
        /// The credential is not open, or not valid for that environment.
        package static let noCredential = Code(value: .noCredential)
        /// The credential's pushes go to a service that is not Apple's, and it names no endpoint for channels.
        package static let noChannelEndpoint = Code(value: .noChannelEndpoint)
        /// A thread or an event queue could not be created.
        package static let system = Code(value: .system)

        package var name: String { value.rawValue }
    }

    /// The kind of error.
    package let code: Code
    /// When a retry is useful, if that is known.
    package let retryAfter: Duration?
    /// The text from a library, for a debug log. It contains no key and no token.
    package let underlying: String?
    /// The source file that created the error.
    package let file: String
    /// The source line that created the error.
    package let line: Int

    package init(
        _ code: Code,
        retryAfter: Duration? = nil,
        underlying: String? = nil,
        file: String = #fileID,
        line: Int = #line
    ) {
        self.code = code
        self.retryAfter = retryAfter
        self.underlying = underlying
        self.file = file
        self.line = line
    }

    package var description: String { "APNsError(\(code.name))" }
    package var debugDescription: String { "\(description): \(underlying ?? "no detail") at \(file):\(line)" }
}
