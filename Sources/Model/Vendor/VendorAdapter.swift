package import HTTPTypes

/// The translator of one vendor's wire: bytes to values and back. Every vendor needs what is here; `VendorAbilities.swift` has what only some need, and
/// `ProvisionedVendor` what binds the vendor to an app.
///
/// What the implementer owes: purity. No I/O, no state, no clock, no randomness: the same bytes and settings give the same value on every machine,
/// so that it can be tested with files of documented bytes, fuzzed, and can listen to traffic that only passes through. `decode` never traps,
/// `encode` is total. What a reply needs from the store comes inside the `Reply`.
package protocol VendorAdapter: Sendable {
    var vendor: Vendor { get }

    /// Every call it answers, in the order in which they are matched.
    var routes: [VendorRoute] { get }

    /// Whose call it is, and what proves it.
    ///
    /// - Throws: `AdapterError` when the request cannot be read; `refuse` then writes the answer.
    func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, Proof)

    /// What the call asks for.
    ///
    /// - Throws: `AdapterError` when a field is missing or wrong; `refuse` then writes the answer.
    func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command]

    /// The vendor's answer to `replies`, one per command of `decode`, or a single refusal for the whole call
    /// (unknown binding, our own trouble).
    func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse

    /// The vendor's answer to a request that never became a command. `settings` are the defaults when no binding was found.
    func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse

    /// Whether `payload` looks at more of its target than the platform. When not, one payload serves all targets of a slice that
    /// share binding and platform.
    var isPersonal: Bool { get }

    /// What the vendor's SDK on the device expects to receive.
    ///
    /// - Throws: `AdapterError` with code `.tooLarge` when the content cannot be made to fit, `.invalid` when it cannot be shown, `.withheld` when it says
    ///   itself that this target gets nothing.
    func payload(for notification: Notification, to target: TargetFacts, settings: BindingSettings) throws(AdapterError)
        -> PushPayload
}

extension VendorAdapter {
    package var isPersonal: Bool { true }
}

/// The body of a call that we make to somebody's back end.
package struct VendorRequestBody: Sendable, Hashable {
    package var contentType: String
    package var bytes: [UInt8]

    package init(contentType: String, bytes: [UInt8]) {
        self.contentType = contentType
        self.bytes = bytes
    }
}

/// One call of a vendor's catalogue.
package struct VendorRoute: Sendable, Hashable {
    package enum Path: Sendable, Hashable {
        /// This path; a trailing slash is ignored on both sides.
        case exact(String)
        /// Every path below this one: where a vendor's shape is owed to unknown paths too.
        case prefix(String)
        /// Every path that ends so, in whatever case; after exact paths and prefixes.
        case suffix(String)
        /// Every path whose second part is this, in whatever case, with all below it: `/{hub}/messages`. After all others.
        case within(String)
    }

    /// The name in metrics, logs and the compatibility matrix: `installApp`.
    package var name: String
    /// Nil: any method reaches the adapter, which then answers wrong ones itself.
    package var method: HTTPRequest.Method?
    package var path: Path
    /// Bytes. A longer body is answered by `refuse(.tooLarge)` without being read to its end.
    package var bodyLimitBytes: Int

    package init(name: String, method: HTTPRequest.Method? = nil, path: Path, bodyLimitBytes: Int) {
        self.name = name
        self.method = method
        self.path = path
        self.bodyLimitBytes = bodyLimitBytes
    }
}

/// An inbound call, read whole and bounded.
package struct VendorRequest: Sendable {
    /// The matched route's name.
    package var route: String
    package var method: HTTPRequest.Method
    /// Without the query, without the mount's prefix.
    package var path: String { didSet { reading = RequestReading() } }
    /// Undecoded, without the question mark.
    package var query: String? { didSet { reading = RequestReading() } }
    package var headers: HTTPFields { didSet { reading = RequestReading() } }
    package var body: [UInt8] { didSet { reading = RequestReading() } }
    /// The client's address as far as it can be trusted.
    package var remoteAddress: String?
    /// By the database's clock.
    package var receivedAt: Timestamp
    /// What its adapter has read of it.
    var reading = RequestReading()

    package init(
        route: String,
        method: HTTPRequest.Method = .post,
        path: String,
        query: String? = nil,
        headers: HTTPFields = HTTPFields(),
        body: [UInt8] = [],
        remoteAddress: String? = nil,
        receivedAt: Timestamp = Timestamp(milliseconds: 0)
    ) {
        self.route = route
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.remoteAddress = remoteAddress
        self.receivedAt = receivedAt
    }
}

/// The answer to an inbound call.
package struct VendorResponse: Sendable, Hashable {
    package var status: Int
    package var headers: HTTPFields
    package var body: [UInt8]

    package init(status: Int, headers: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// How a vendor call finds its tenant.
package struct BindingKey: Sendable, Hashable {
    package var vendor: Vendor
    /// Which of the vendor's keys it is: a vendor may have several that lead to one binding (`account`, `service`).
    package var kind: String
    package var value: String
    /// The host the call was addressed to, lower-case, without port. A binding without host answers on any.
    package var host: String?

    package init(vendor: Vendor, kind: String, value: String, host: String? = nil) {
        self.vendor = vendor
        self.kind = kind
        self.value = value
        self.host = host
    }
}

/// What a caller shows to be believed. A value: one authenticator in `Gateway`, with keys and a clock, judges it.
package enum Proof: Sendable, Hashable {
    /// The vendor has none: ids in the body are capabilities.
    case none
    case bearer(String)
    case basic(user: String, password: String)
    case authorizationKey(String)
    case sharedAccessSignature(String)
    case jwt(String)
}

/// Why a request never became a command.
package struct AdapterError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// The body cannot be parsed at all.
        case unreadable
        /// A field that is needed is absent or empty.
        case missing
        /// A field has a value outside its range.
        case invalid
        /// Body or payload over its limit.
        case tooLarge
        case methodNotAllowed
        case notFound
        case tooManyRequests
        case unauthorized
        /// The body did not arrive in time.
        case timedOut
        /// Of a payload: the message itself says that this target gets nothing, by its template or its audience.
        case withheld
    }

    package var code: Code
    /// The vendor's own name of the field, where one is at fault.
    package var field: String?

    package init(_ code: Code, field: String? = nil) {
        self.code = code
        self.field = field
    }

    package var description: String { field.map { "\(code): \($0)" } ?? "\(code)" }
}
