/// Why a credential cannot be used, or no provider token is there. What APNs answers is never an error: see `Outcome`.
package struct APNsError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// Constants over a closed set that may grow without breaking a `switch` of ours.
    package struct Code: Sendable, Hashable {
        private enum Value: String {
            case badKey, badIdentifier, badCertificate, badEndpoint, badTrustRoots, signingFailed, tokenUnavailable,
                tokenTooYoung
            case tooManyCredentials, shutDown, noCredential, noChannelEndpoint, system
        }
        private let value: Value

        /// The .p8 is not a P-256 private key in PEM.
        package static let badKey = Code(value: .badKey)
        /// A team or key id has characters that no such id has.
        package static let badIdentifier = Code(value: .badIdentifier)
        /// OpenSSL does not take the certificate and its key.
        package static let badCertificate = Code(value: .badCertificate)
        /// The endpoint is not `https://host[:port]`.
        package static let badEndpoint = Code(value: .badEndpoint)
        /// The trust roots are not certificates in PEM.
        package static let badTrustRoots = Code(value: .badTrustRoots)
        /// OpenSSL could not sign a provider token.
        package static let signingFailed = Code(value: .signingFailed)
        /// The store that shares provider tokens could not be asked.
        package static let tokenUnavailable = Code(value: .tokenUnavailable)
        /// The peer refuses a token that is too young to be replaced: somebody's clock is wrong. See `retryAfter`.
        package static let tokenTooYoung = Code(value: .tokenTooYoung)
        /// `APNsLimits.maxCredentials` is reached.
        package static let tooManyCredentials = Code(value: .tooManyCredentials)
        /// The transport has been shut down.
        package static let shutDown = Code(value: .shutDown)
        /// The credential is not open, or not for that environment.
        package static let noCredential = Code(value: .noCredential)
        /// The credential's pushes go to a service that is not Apple's, and it names no endpoint for channels.
        package static let noChannelEndpoint = Code(value: .noChannelEndpoint)
        /// A thread or an event queue could not be made.
        package static let system = Code(value: .system)

        package var name: String { value.rawValue }
    }

    /// What went wrong.
    package let code: Code
    /// When trying again makes sense, if that is known.
    package let retryAfter: Duration?
    /// What a library said, for a debug log. Holds no key and no token.
    package let underlying: String?
    /// Where it was made.
    package let file: String
    /// Where it was made.
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

    /// Whether the same call may succeed later without anybody changing the credential.
    package var isRetriable: Bool {
        switch code {
        case .signingFailed, .tokenUnavailable, .tokenTooYoung, .system: true
        default: false
        }
    }

    package var description: String { "APNsError(\(code.name))" }
    package var debugDescription: String { "\(description): \(underlying ?? "no detail") at \(file):\(line)" }
}
