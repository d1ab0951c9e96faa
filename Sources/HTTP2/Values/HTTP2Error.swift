/// Why a request or a connection failed; an answer of the peer, whatever its status, is never an error.
///
/// `description` is fit for anyone's eyes; what the peer or OpenSSL said in detail is in `debugDescription`. Neither holds
/// a path, a field value or a key.
package struct HTTP2Error: Error, Sendable, Equatable {
    /// What went wrong. A struct over a private enum, so that codes can be added without breaking a reader's `switch`.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case refusedStream, goAway, notSent, noCapacity, canceled, deadlineExceeded, streamReset, connectionLost
            case pingTimeout, closed, resolveFailed, connectFailed, connectTimeout, tlsTimeout, tlsFailed
            case certificateRejected, noALPN, protocolError, streamsExhausted, invalidRequest, requestTooLarge, badKey
            case badCertificate, badPassphrase, legacyEncryption, identityRejected, signingFailed, system, outOfMemory
        }

        private let value: Value
        private init(_ value: Value) { self.value = value }

        /// The peer reset the stream with REFUSED_STREAM, which promises that it did nothing (RFC 9113 §8.7).
        package static let refusedStream = Code(.refusedStream)
        /// The stream's number is above the last one a GOAWAY named, or the request was still queued when it came.
        package static let goAway = Code(.goAway)
        /// The connection ended, or was ending, before the request's first byte was handed to it.
        package static let notSent = Code(.notSent)
        /// No credit: the connection is not open, or as many requests are in flight as the peer allows.
        package static let noCapacity = Code(.noCapacity)
        /// The caller cancelled.
        package static let canceled = Code(.canceled)
        /// The request's own deadline passed.
        package static let deadlineExceeded = Code(.deadlineExceeded)
        /// The peer reset the stream with a code other than REFUSED_STREAM; `peerCode` has it.
        package static let streamReset = Code(.streamReset)
        /// The socket or the TLS session broke with the request in flight.
        package static let connectionLost = Code(.connectionLost)
        /// The peer did not answer a PING in time.
        package static let pingTimeout = Code(.pingTimeout)
        /// The connection was closed by its owner with the request in flight.
        package static let closed = Code(.closed)
        /// The host name could not be resolved.
        package static let resolveFailed = Code(.resolveFailed)
        /// No address of the host accepted a connection.
        package static let connectFailed = Code(.connectFailed)
        /// No address of the host accepted a connection in time.
        package static let connectTimeout = Code(.connectTimeout)
        /// The TLS handshake did not end in time.
        package static let tlsTimeout = Code(.tlsTimeout)
        /// The TLS handshake or a TLS record failed.
        package static let tlsFailed = Code(.tlsFailed)
        /// The peer's certificate is not trusted, or is not for the host that was dialled.
        package static let certificateRejected = Code(.certificateRejected)
        /// The peer did not choose `h2`.
        package static let noALPN = Code(.noALPN)
        /// The peer broke HTTP/2's rules, or we did and the library noticed.
        package static let protocolError = Code(.protocolError)
        /// The connection has used up its stream numbers.
        package static let streamsExhausted = Code(.streamsExhausted)
        /// A field or a path has bytes that HTTP/2 forbids.
        package static let invalidRequest = Code(.invalidRequest)
        /// The request is above a limit of `HTTP2Limits`.
        package static let requestTooLarge = Code(.requestTooLarge)
        /// There is no private key that can be used: none, damaged, or for a signer not P-256 in PEM.
        package static let badKey = Code(.badKey)
        /// A certificate, chain or set of trust roots cannot be read, or does not fit its key.
        package static let badCertificate = Code(.badCertificate)
        /// An identity file is encrypted, and the passphrase is missing or wrong.
        package static let badPassphrase = Code(.badPassphrase)
        /// An identity file is encrypted with an old cipher that this OpenSSL does not offer.
        package static let legacyEncryption = Code(.legacyEncryption)
        /// The peer refused our certificate, or wants one, by a TLS alert. No request was processed.
        package static let identityRejected = Code(.identityRejected)
        /// The signature could not be made.
        package static let signingFailed = Code(.signingFailed)
        /// A call to the operating system failed.
        package static let system = Code(.system)
        /// A C library could not allocate.
        package static let outOfMemory = Code(.outOfMemory)

        /// The code's name, which is what logs and metrics use as a label.
        package var description: String { value.rawValue }
    }

    /// What went wrong.
    package let code: Code
    /// Whether the peer surely did nothing with the request, so that sending it again cannot repeat it.
    ///
    /// False means unknown: bytes left us and no answer came.
    package let isUnsent: Bool
    /// The HTTP/2 error code the peer gave in RST_STREAM or GOAWAY (RFC 9113 §7).
    package let peerCode: UInt32?
    /// Behind a reference, so that an error is as small as an answer: a batch of results is copied and moved by value.
    private let detail: Detail

    private final class Detail: Sendable {
        let underlying: String?
        let file: String
        let line: Int

        init(underlying: String?, file: String, line: Int) {
            self.underlying = underlying
            self.file = file
            self.line = line
        }
    }

    /// What the C library or the operating system said. For a debug log, not for a caller.
    package var underlying: String? { detail.underlying }
    /// Where it was made.
    package var file: String { detail.file }
    /// Where it was made.
    package var line: Int { detail.line }

    /// Makes an error; `isUnsent` defaults to false, the cautious answer.
    package init(
        _ code: Code,
        isUnsent: Bool = false,
        peerCode: UInt32? = nil,
        underlying: String? = nil,
        file: String = #fileID,
        line: Int = #line
    ) {
        self.code = code
        self.isUnsent = isUnsent
        self.peerCode = peerCode
        detail = Detail(underlying: underlying, file: file, line: line)
    }

    private init(_ other: HTTP2Error, isUnsent: Bool) {
        code = other.code
        self.isUnsent = isUnsent
        peerCode = other.peerCode
        detail = other.detail
    }

    /// The same failure as told to a request of which nothing was written.
    package var unsent: HTTP2Error { HTTP2Error(self, isUnsent: true) }

    /// Whether the same request may succeed later or on another connection. Says nothing about repeats: see `isUnsent`.
    package var isRetriable: Bool {
        switch code {
        case .invalidRequest, .requestTooLarge, .badKey, .badCertificate, .badPassphrase, .legacyEncryption, .canceled,
            .signingFailed:
            false
        default: true
        }
    }

    /// Two errors are equal when they tell a caller the same, wherever they were made.
    package static func == (left: HTTP2Error, right: HTTP2Error) -> Bool {
        left.code == right.code && left.isUnsent == right.isUnsent && left.peerCode == right.peerCode
    }
}

extension HTTP2Error: CustomStringConvertible, CustomDebugStringConvertible {
    /// The code, the peer's code and whether the request was surely unprocessed.
    package var description: String {
        let peer = peerCode.map { ", peer code \($0)" } ?? ""
        return "HTTP2Error(\(code)\(peer)\(isUnsent ? ", unsent" : ""))"
    }

    /// The description with the C library's words and the place.
    package var debugDescription: String {
        "\(description): \(underlying ?? "no detail") at \(file):\(line)"
    }
}
