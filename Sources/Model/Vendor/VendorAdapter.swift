package import HTTPTypes

/// Translates one vendor's wire format to values and back. It contains the requirements for every vendor; `VendorAbilities.swift` has those for some vendors,
/// and `ProvisionedVendor` those for binding the vendor to an app.
///
/// An implementation must be pure: no I/O, no state, no clock, no randomness. The same bytes and settings give the same value on every machine,
/// so that it can be tested with files of documented bytes, fuzzed, and applied to recorded traffic. `decode` never traps,
/// and `encode` is total. The `Reply` contains all data from the store that an answer needs.
package protocol VendorAdapter: Sendable {
    var vendor: Vendor { get }

    /// Every call that it answers, in the order in which they are matched.
    var routes: [VendorRoute] { get }

    /// The reports that the vendor's SDK can make about a push.
    var reports: Reporting { get }

    /// How back ends prove that they may send, for calls of kind `.sender`. Nil: the vendor has no such calls.
    var senders: SenderForm? { get }

    /// Returns the binding key of the call and the kind of caller that it needs. The gateway refuses a call of kind `.sender` before `decode` unless its
    /// caller may send; the adapter itself checks callers of kind `.credential` in `decode`.
    ///
    /// - Throws: `AdapterError` when the request cannot be read; `refuse` then writes the answer.
    func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, CallerKind)

    /// Returns the binding key of a call of whose body only the beginning has arrived, completed as `BodyBeginning` does. Nil unless it is the key of the whole
    /// call too, whatever follows.
    func earlyKey(of request: VendorRequest) -> BindingKey?

    /// Returns the credential of a call of kind `.credential`, whether it is right or wrong. Nil: it shows none, or one that needs no limit, such as a signature
    /// that has expired.
    func proof(of request: VendorRequest) -> CallProof?

    /// Returns the token by which the app's back end confirms the user that the call registers, whether it is right or wrong: a header, or the dialect's own field
    /// for apps that cannot send one. Nil: the call has none.
    func userToken(of request: VendorRequest) -> String?

    /// Returns the commands of the call.
    ///
    /// - Throws: `AdapterError` when a field is missing or wrong; `refuse` then writes the answer.
    func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command]

    /// Encodes the vendor's answer to `replies`, one per command of `decode`, or a single refusal for the whole call
    /// (unknown binding, internal error).
    func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse

    /// Encodes the vendor's answer to a request that did not become a command. `settings` are the defaults when no binding was found.
    func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse

    /// Whether `payload` depends on more of its target than the platform. If not, one payload serves all targets of a slice that
    /// share binding and platform.
    var isPersonal: Bool { get }

    /// Writes the payload for the vendor's SDK on the device.
    ///
    /// - Throws: `AdapterError` with code `.tooLarge` when the content cannot be reduced to fit, `.invalid` when it cannot be shown, `.withheld` when the
    ///   message itself excludes this target.
    func payload(for notification: Notification, to target: TargetFacts, settings: BindingSettings) throws(AdapterError)
        -> PushPayload

    /// Returns the content of a message of this dialect for an identity of another one, whose adapter then writes the payload from it: templates are filled in,
    /// filters of the audience applied, and a payload in Apple's format is read into the fields of `Content`. By default the content is what was stored.
    ///
    /// - Throws: `AdapterError` with code `.withheld` when the message itself excludes this target, `.tooLarge` when its template does not fit.
    func normalized(_ notification: Notification, for target: TargetFacts) throws(AdapterError) -> NormalizedContent
}

extension VendorAdapter {
    package var isPersonal: Bool { true }

    package func normalized(_ notification: Notification, for target: TargetFacts) throws(AdapterError)
        -> NormalizedContent
    {
        NormalizedContent(notification.content)
    }

    /// The key of the call, if the address or the fields that have arrived name it.
    package func earlyKey(of request: VendorRequest) -> BindingKey? { (try? locate(request))?.0 }

    /// The header of the call.
    package func userToken(of request: VendorRequest) -> String? { request.header(UserTokenRules.header) }

    /// The bearer token of the call.
    package func proof(of request: VendorRequest) -> CallProof? {
        request.headers[.authorization].map { CallProof($0) }
    }
}

/// The body of a call that the gateway makes to a back end.
package struct VendorRequestBody: Sendable, Hashable {
    package var contentType: String
    package var bytes: [UInt8]

    package init(contentType: String, bytes: [UInt8]) {
        self.contentType = contentType
        self.bytes = bytes
    }
}

/// One route of a vendor.
package struct VendorRoute: Sendable, Hashable {
    package enum Path: Sendable, Hashable {
        /// This path; a trailing slash is ignored on both sides.
        case exact(String)
        /// Every path below this one, for vendors whose error format is also required for unknown paths.
        case prefix(String)
        /// Every path with this ending, in any case. Matched after exact paths and prefixes.
        case suffix(String)
        /// Every path whose second component is this, in any case, and all paths below it: `/{hub}/messages`. Matched after all others.
        case within(String)
    }

    /// The name in metrics, logs and the compatibility matrix: `installApp`.
    package var name: String
    /// Nil: any method reaches the adapter, which refuses wrong methods itself.
    package var method: HTTPRequest.Method?
    package var path: Path
    /// The limit in bytes. A longer body is answered by `refuse(.tooLarge)` without being read to its end.
    package var bodyLimitBytes: Int

    package init(name: String, method: HTTPRequest.Method? = nil, path: Path, bodyLimitBytes: Int) {
        self.name = name
        self.method = method
        self.path = path
        self.bodyLimitBytes = bodyLimitBytes
    }
}

/// An inbound call, read completely and with limited size.
package struct VendorRequest: Sendable {
    /// The matched route's name.
    package var route: String
    package var method: HTTPRequest.Method
    /// The path without the query and without the prefix of the mount point.
    package var path: String { didSet { reading = RequestReading() } }
    /// The query, not decoded, without the question mark.
    package var query: String? { didSet { reading = RequestReading() } }
    package var headers: HTTPFields { didSet { reading = RequestReading() } }
    package var body: [UInt8] { didSet { reading = RequestReading() } }
    /// The client's address; behind a trusted proxy that did not name its client, the proxy's.
    package var remoteAddress: String?
    /// False if `remoteAddress` is that of a proxy, and therefore proves nothing about the caller.
    package var isAddressKnown: Bool
    /// The client's certificate; nil: it showed none, or the call did not arrive at a listener that asks for one.
    package var certificate: PeerCertificate?
    /// The time on the database's clock.
    package var receivedAt: Timestamp
    /// The adapter's cached reading of the request.
    package private(set) var reading = RequestReading()

    package init(
        route: String,
        method: HTTPRequest.Method = .post,
        path: String,
        query: String? = nil,
        headers: HTTPFields = HTTPFields(),
        body: [UInt8] = [],
        remoteAddress: String? = nil,
        isAddressKnown: Bool = true,
        receivedAt: Timestamp = Timestamp(milliseconds: 0)
    ) {
        self.route = route
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.remoteAddress = remoteAddress
        self.isAddressKnown = isAddressKnown
        self.receivedAt = receivedAt
    }

    /// The client's address, if it is known and proves where the call came from.
    package var provenAddress: IPAddress? { isAddressKnown ? remoteAddress.flatMap { IPAddress($0) } : nil }
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

/// Identifies the binding, and thereby the tenant, of a vendor's call.
package struct BindingKey: Sendable, Hashable {
    package var vendor: Vendor
    /// The kind of key: several keys of a vendor may lead to one binding (`account`, `service`).
    package var kind: String
    package var value: String
    /// The host to which the call was addressed, lower-case, without port. A binding without host accepts any.
    package var host: String?

    package init(vendor: Vendor, kind: String, value: String, host: String? = nil) {
        self.vendor = vendor
        self.kind = kind
        self.value = value
        self.host = host
    }
}

/// Why a request did not become a command.
package struct AdapterError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// The body cannot be parsed at all.
        case unreadable
        /// A required field is absent or empty.
        case missing
        /// A field has a value outside its range.
        case invalid
        /// The body or payload exceeds its limit.
        case tooLarge
        case methodNotAllowed
        case notFound
        case tooManyRequests
        case unauthorized
        /// The body did not arrive in time.
        case timedOut
        /// For a payload: the message's template or audience excludes this target.
        case withheld
    }

    package var code: Code
    /// The vendor's name of the field that caused the error, if any.
    package var field: String?
    /// Whether the body is unreadable because of its number of JSON values (`JSONParser.valueLimit`).
    package private(set) var hasTooManyValues = false

    package init(_ code: Code, field: String? = nil) {
        self.code = code
        self.field = field
    }

    /// The error for a body that is not JSON, or has too many values.
    package init(unreadable error: JSONError) {
        self.init(.unreadable)
        hasTooManyValues = error.hasTooManyValues
    }

    package var description: String { field.map { "\(code): \($0)" } ?? "\(code)" }
}
