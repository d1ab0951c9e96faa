import Crypto
package import HTTPTypes
package import Model
import NIOConcurrencyHelpers
package import NIOCore
import NIOSSL

/// A service that may be called with one credential: its address and the authorities of its certificate.
package struct OutgoingServer: Sendable, Hashable {
    /// The calls of one credential share limit and connections. Two credentials share nothing, even with the same URL.
    package let credential: CredentialKey
    /// Path of the base: calls add theirs to it. It has no query.
    package let url: OutgoingURL
    /// Authorities in PEM. Nil: those of the system.
    package let trustRoots: [UInt8]?
    /// The certificates of `trustRoots`, at least one. Nil: there are no trust roots, or they cannot be read.
    let roots: [NIOSSLCertificate]?
    /// The URL without the slash at its end. Targets follow it.
    let base: String
    /// The name of its connections: all that makes them differ, except the address.
    let connections: String

    /// Reads the trust roots once; a server whose roots cannot be read refuses every call.
    package init(credential: CredentialKey, url: OutgoingURL, trustRoots: [UInt8]? = nil) {
        self.credential = credential
        self.url = url
        self.trustRoots = trustRoots
        roots = trustRoots.flatMap { Self.certificates($0) }
        base = url.url.hasSuffix("/") ? String(url.url.dropLast()) : url.url
        let digest = trustRoots.map { HexCoding.encode(Array(SHA256.hash(data: $0))) } ?? ""
        connections = "\(credential.tenant)/\(credential.credential) \(url.origin) \(digest)"
    }

    /// Whether a text contains certificates in PEM, and nothing that cannot be read as one.
    package static func areCertificates(_ pem: [UInt8]) -> Bool { certificates(pem) != nil }

    private static func certificates(_ pem: [UInt8]) -> [NIOSSLCertificate]? {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem), !certificates.isEmpty else { return nil }
        return certificates
    }
}

/// One call to an upstream.
package struct OutgoingRequest: Sendable {
    package var method: HTTPRequest.Method
    /// Path and query; begins with a slash. It follows the path of the server's URL.
    package var target: String
    /// The client adds `Host`, in place of one that is in them, and the length.
    package var fields: HTTPFields
    package var body: [UInt8]

    package init(method: HTTPRequest.Method, target: String, fields: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }
}

/// The answer of an upstream. Redirects are answers too.
package struct OutgoingResponse: Sendable {
    package var status: Int
    package var fields: HTTPFields
    /// The version of HTTP that the upstream spoke: `1.1`, `2.0`.
    package var version: String
    /// When its head arrived.
    package var arrivedAt: ContinuousClock.Instant
    /// Ends within the limits of the call. Dropping it ends the call.
    package var body: OutgoingBody
}

/// Why a call has no answer, or only a part of one. Texts are fixed and contain nothing from the peer.
package enum OutgoingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The cause, without anything from the peer.
    package enum Reason: String, Sendable {
        case connection = "no connection"
        case timeout
        case closed = "connection closed"
        case tooLong = "answer too long"
        case unreadable = "unreadable answer"
        case cancelled
    }

    /// The address must not be reached, or not without TLS.
    case forbidden
    /// The name has no address.
    case unresolved
    /// As many calls as permitted are in flight.
    case busy
    /// The trust roots of the server, or the target of the request, cannot be read, or the client would change the target.
    case invalid
    /// The upstream has not received the request as a whole.
    case unsent(Reason)
    /// The upstream may have received the request.
    case indeterminate(Reason)

    /// Whether the upstream has certainly not acted: the call may be made again, or elsewhere.
    package var isUnsent: Bool {
        switch self {
        case .forbidden, .unresolved, .busy, .invalid, .unsent: true
        case .indeterminate: false
        }
    }

    package var description: String {
        switch self {
        case .forbidden: "forbidden address"
        case .unresolved: "no address"
        case .busy: "too many calls"
        case .invalid: "invalid call"
        case .unsent(let reason): reason.rawValue
        case .indeterminate(let reason): "\(reason.rawValue), perhaps after the request"
        }
    }
}

/// The body of an answer: in parts as they arrive, or as a whole if the call has collected it. A part is read from the connection when the one before it was
/// taken, so a slow reader makes the upstream wait.
package struct OutgoingBody: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    enum Source: Sendable {
        /// `isComplete`: whether the last byte of the answer has been read. The parts of a read that was cancelled end without an error.
        case parts(AsyncThrowingStream<BodyPart, any Error>, isComplete: NIOLockedValueBox<Bool>)
        /// `failure`: why the rest is missing; nil: nothing is.
        case collected(ByteBuffer, failure: OutgoingError?)
    }

    let source: Source

    package struct AsyncIterator: AsyncIteratorProtocol {
        private var parts: AsyncThrowingStream<BodyPart, any Error>.AsyncIterator?
        private let isComplete: NIOLockedValueBox<Bool>?
        private var last: BodyPart?
        private var collected: ByteBuffer?
        private let failure: OutgoingError?

        init(_ source: Source) {
            switch source {
            case .parts(let parts, let isComplete):
                self.parts = parts.makeAsyncIterator()
                self.isComplete = isComplete
                failure = nil
            case .collected(let bytes, let failure):
                isComplete = nil
                collected = bytes.readableBytes > 0 ? bytes : nil
                self.failure = failure
            }
        }

        /// - Throws: `OutgoingError`: `.indeterminate(.cancelled)` if the parts end before the answer does.
        package mutating func next() async throws -> ByteBuffer? {
            guard let isComplete else { return try nextCollected() }
            last?.release()
            last = try await parts?.next()
            guard let last else {
                guard isComplete.withLockedValue({ $0 }) else { throw OutgoingError.indeterminate(.cancelled) }
                return nil
            }
            return last.buffer
        }

        private mutating func nextCollected() throws -> ByteBuffer? {
            if let bytes = collected {
                collected = nil
                return bytes
            }
            if let failure { throw failure }
            return nil
        }
    }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source) }

    /// Reads the whole body.
    ///
    /// - Throws: `OutgoingError`: `.indeterminate(.tooLong)` above `limit` bytes, `.indeterminate(.cancelled)` if the task is cancelled before the end.
    package func bytes(upTo limit: Int) async throws(OutgoingError) -> [UInt8] {
        if case .collected(let bytes, let failure) = source {
            guard bytes.readableBytes <= limit else { throw .indeterminate(.tooLong) }
            if let failure { throw failure }
            return Array(bytes.readableBytesView)
        }
        var bytes: [UInt8] = []
        do {
            for try await part in self {
                guard bytes.count + part.readableBytes <= limit else { throw OutgoingError.indeterminate(.tooLong) }
                bytes += part.readableBytesView
            }
        } catch {
            throw error as? OutgoingError ?? .indeterminate(.cancelled)
        }
        return bytes
    }
}

/// A part of an answer. The next part is read after this one was released, at the latest when nobody holds it.
final class BodyPart: Sendable {
    let buffer: ByteBuffer
    private let taken: EventLoopPromise<Void>

    init(_ buffer: ByteBuffer, _ taken: EventLoopPromise<Void>) {
        self.buffer = buffer
        self.taken = taken
    }

    func release() { taken.succeed(()) }

    deinit { taken.succeed(()) }
}
