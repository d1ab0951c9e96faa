/// Why a request or a connection failed. An answer of the peer is never an error, whatever its status.
///
/// `description` contains no secrets and may be shown to anyone; the details from the peer or OpenSSL are in `debugDescription`. Neither contains a path, a
/// field value or a key.
package struct HTTP2Error: Error, Sendable, Equatable {
    /// The kind of failure. It is a struct over a private enum, so that new codes do not break a caller's `switch`.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case refusedStream, goAway, notSent, noCapacity, canceled, deadlineExceeded, streamReset, connectionLost
            case pingTimeout, closed, resolveFailed, connectFailed, connectTimeout, tlsTimeout, tlsFailed
            case certificateRejected, noALPN, protocolError, streamsExhausted, invalidRequest, requestTooLarge, badKey
            case badCertificate, badPassphrase, legacyEncryption, identityRejected, signingFailed, system, outOfMemory
        }

        private let value: Value
        private init(_ value: Value) { self.value = value }

        /// The peer reset the stream with REFUSED_STREAM, which guarantees that it did not process the request (RFC 9113 §8.7).
        package static let refusedStream = Code(.refusedStream)
        /// The stream's number is above the last one of a GOAWAY, or the request was still queued when the GOAWAY came.
        package static let goAway = Code(.goAway)
        /// The connection ended, or was ending, before the first byte of the request was written.
        package static let notSent = Code(.notSent)
        /// No credits are left: the connection is not open, or as many requests are in flight as the peer allows.
        package static let noCapacity = Code(.noCapacity)
        /// The caller cancelled the request.
        package static let canceled = Code(.canceled)
        /// The request's own deadline passed.
        package static let deadlineExceeded = Code(.deadlineExceeded)
        /// The peer reset the stream with a code other than REFUSED_STREAM; the code is in `peerCode`.
        package static let streamReset = Code(.streamReset)
        /// The socket or the TLS session failed while the request was in flight.
        package static let connectionLost = Code(.connectionLost)
        /// The peer did not answer a PING in time.
        package static let pingTimeout = Code(.pingTimeout)
        /// The owner closed the connection while the request was in flight.
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
        /// The peer violated the rules of HTTP/2, or we did and nghttp2 noticed.
        package static let protocolError = Code(.protocolError)
        /// The connection has used up its stream numbers.
        package static let streamsExhausted = Code(.streamsExhausted)
        /// A field or a path contains bytes that HTTP/2 forbids.
        package static let invalidRequest = Code(.invalidRequest)
        /// The request exceeds a limit of `HTTP2Limits`.
        package static let requestTooLarge = Code(.requestTooLarge)
        /// No usable private key was found: it is missing or damaged, or, for a signer, not P-256 in PEM.
        package static let badKey = Code(.badKey)
        /// A certificate, chain or set of trust roots cannot be read, or does not fit its key.
        package static let badCertificate = Code(.badCertificate)
        /// An identity file is encrypted, and the passphrase is missing or wrong.
        package static let badPassphrase = Code(.badPassphrase)
        /// An identity file is encrypted with an old cipher that this OpenSSL does not offer.
        package static let legacyEncryption = Code(.legacyEncryption)
        /// The peer rejected our certificate, or requires one, by a TLS alert. No request was processed.
        package static let identityRejected = Code(.identityRejected)
        /// The signature could not be created.
        package static let signingFailed = Code(.signingFailed)
        /// A call to the operating system failed.
        package static let system = Code(.system)
        /// A C library could not allocate memory.
        package static let outOfMemory = Code(.outOfMemory)

        /// The code's name, which logs and metrics use as a label.
        package var description: String { value.rawValue }
    }

    /// The kind of failure.
    package let code: Code
    /// Whether it is certain that the peer did not process the request, so that sending it again cannot repeat it.
    ///
    /// False means unknown: bytes were sent and no answer came.
    package let isUnsent: Bool
    /// The HTTP/2 error code from the peer's RST_STREAM or GOAWAY (RFC 9113 §7).
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

    /// The text from the C library or the operating system. For a debug log, not for a caller.
    package var underlying: String? { detail.underlying }
    /// The source file that created the error.
    package var file: String { detail.file }
    /// The source line that created the error.
    package var line: Int { detail.line }

    /// Creates an error; `isUnsent` defaults to false, the cautious value.
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

    /// The same failure for a request of which nothing was written.
    package var unsent: HTTP2Error { HTTP2Error(self, isUnsent: true) }

    /// Whether the same request may succeed later or on another connection. Whether sending it again may repeat it is a separate question: see `isUnsent`.
    package var isRetriable: Bool {
        switch code {
        case .invalidRequest, .requestTooLarge, .badKey, .badCertificate, .badPassphrase, .legacyEncryption, .canceled,
            .signingFailed:
            false
        default: true
        }
    }

    /// Two errors are equal if they mean the same for a caller; the place of their creation does not matter.
    package static func == (left: HTTP2Error, right: HTTP2Error) -> Bool {
        left.code == right.code && left.isUnsent == right.isUnsent && left.peerCode == right.peerCode
    }
}

extension HTTP2Error: CustomStringConvertible, CustomDebugStringConvertible {
    /// The code, the peer's code, and whether the request is known to be unprocessed.
    package var description: String {
        let peer = peerCode.map { ", peer code \($0)" } ?? ""
        return "HTTP2Error(\(code)\(peer)\(isUnsent ? ", unsent" : ""))"
    }

    /// The description with the C library's text and the source position.
    package var debugDescription: String {
        "\(description): \(underlying ?? "no detail") at \(file):\(line)"
    }
}
