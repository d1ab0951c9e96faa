import Crypto
import FoundationEssentials
import HTTPTypes
import Model

/// Writes the answers to the vendor's SDK (docs/contracts/braze.md#3.1, docs/contracts/braze.md#3.5, docs/contracts/braze.md#3.8).
struct SDKResponse {
    private let call: SDKCall
    private let request: VendorRequest
    private let settings: SDKSettings

    init(_ call: SDKCall, _ request: VendorRequest, _ settings: BindingSettings) {
        self.call = call
        self.request = request
        self.settings = SDKSettings(settings)
    }

    func answer(_ replies: [Reply]) -> VendorResponse {
        for case .refused(let refusal) in replies {
            // Data that was refused is dropped: otherwise the SDK would send it again forever.
            if let error = Self.trouble(refusal) { return failure(error) }
        }
        guard call == .other || replies.contains(where: Self.isOwn) else {
            return failure(
                Self.trouble(.unavailable(retryAfter: nil)) ?? BrazeError(503, Self.unavailable, retryAfter: 5)
            )
        }
        var answer = body
        // Mode Optional: the call is processed, and the error is reported (docs/contracts/braze.md#3.6).
        answer["auth_error"] = SDKAuthentication(settings).failure(request)?.json
        return response(201, answer)
    }

    private static func isOwn(_ reply: Reply) -> Bool {
        switch reply {
        case .user, .receipt, .registration, .refused: true
        case .preference, .sender, .group, .inbox, .submission, .campaign, .media, .badge: false
        }
    }

    // MARK: Answers

    private var body: JSONObject {
        switch call {
        case .data: asked
        // There are no cards, and there never were changes.
        case .contentCards:
            [
                "cards": [], "last_full_sync_at": .int(request.receivedAt.seconds), "last_card_updated_at": 0,
                "full_sync": true,
            ]
        case .template, .other: [:]
        }
    }

    /// The time of the last change of `configuration`, to be increased with every change. Unit: seconds since 1970; the value is 2026-01-01.
    private static let configuredAt: Int64 = 1_767_225_600

    private static let configuration: JSONObject = [
        "time": .int(configuredAt), "attributes_blacklist": [], "events_blacklist": [], "purchases_blacklist": [],
        // Six hours: an SDK should not ask more often for features that the gateway does not have.
        "messaging_session_timeout": 21600, "content_cards": ["enabled": false],
    ]

    /// The parts that the SDK requested.
    private var asked: JSONObject {
        guard let wish = (try? request.brazeBody())?["respond_with"]?.object else { return [:] }
        var answer = JSONObject()
        if wish["triggers"] == true || request.header("X-Braze-TriggersRequest")?.lowercased() == "true" {
            answer["triggers"] = []
            answer["feed"] = []
        }
        if let known = wish["config"]?.object, known["config_time"]?.double ?? 0 < Double(Self.configuredAt) {
            answer["config"] = .object(Self.configuration)
        }
        return answer
    }

    // MARK: Failures

    private static let unavailable = "service_unavailable"

    /// The error for a failure of the whole call; nil for a failure that concerns only some of its data.
    private static func trouble(_ refusal: Refusal) -> BrazeError? {
        let own = BrazeError(refusal)
        switch refusal {
        case .unknownBinding, .unauthorized: return BrazeError(401, "invalid_api_keys")
        case .unavailable, .outdated: return BrazeError(503, unavailable, retryAfter: own.retryAfter)
        case .rateLimited: return BrazeError(429, "too_many_requests", retryAfter: own.retryAfter)
        case .unknownDevice, .unknownMessage, .unknownMedia, .unknownSender, .unknownGroup, .unknownTemplate,
            .noRecipients, .noCredential, .invalid, .tooMany, .idempotencyMismatch, .unsupported:
            return nil
        }
    }

    func failure(_ error: AdapterError) -> VendorResponse {
        if error.code == .methodNotAllowed || error.code == .unauthorized, request.method == .options {
            return preflight
        }
        if error.code == .unauthorized, settings.isEnabled, settings.authentication == .required {
            let authentication = SDKAuthentication(settings)
            let failure = authentication.failure(request) ?? authentication.ownerFailure(request)
            return response(401, ["auth_error": failure.json])
        }
        return switch error.code {
        case .unauthorized: failure(BrazeError(401, "invalid_api_keys"))
        case .unreadable, .missing, .invalid, .withheld: failure(BrazeError(400, "invalid_request"))
        case .notFound, .methodNotAllowed: failure(BrazeError(404, "not_found"))
        case .tooLarge: failure(BrazeError(413, "request_too_large"))
        case .tooManyRequests: failure(BrazeError(429, "too_many_requests", retryAfter: 1))
        case .timedOut: failure(BrazeError(408, "request_timeout"))
        }
    }

    private func failure(_ error: BrazeError) -> VendorResponse {
        var response = response(error.status, ["error": .string(error.text)])
        if let after = error.retryAfter { response.headers[.retryAfter] = "\(after)" }
        return response
    }

    // MARK: Headers

    /// The headers that a page may send. The page that may read the answer is decided with the answer, because a preflight request does not identify
    /// the binding.
    private var preflight: VendorResponse {
        var headers = HTTPFields()
        headers[.accessControlAllowOrigin] = origin ?? "*"
        headers[.accessControlAllowMethods] = "POST, OPTIONS"
        headers[.accessControlAllowHeaders] = Self.pageHeaders
        headers[.accessControlMaxAge] = "86400"
        headers[.vary] = "Origin"
        return VendorResponse(status: 204, headers: headers)
    }

    private static let pageHeaders =
        "content-type, x-braze-api-key, x-braze-datarequest, x-braze-triggersrequest, x-requested-with, "
        + "x-braze-req-attempt, x-braze-req-tokens-remaining, x-braze-auth-signature"

    private var origin: String? {
        guard let origin = request.header("Origin"), (1...BrazeLimits.originBytes).contains(origin.utf8.count) else {
            return nil
        }
        return origin
    }

    private func response(_ status: Int, _ body: JSONObject) -> VendorResponse {
        var headers = HTTPFields()
        headers[.contentType] = "application/json"
        headers[.cacheControl] = "max-age=0, private, must-revalidate"
        if let name = HTTPField.Name("x-request-id") { headers[name] = requestID }
        if let origin {
            headers[.vary] = "Origin"
            if settings.allows(origin) { headers[.accessControlAllowOrigin] = origin }
        }
        return VendorResponse(status: status, headers: headers, body: JSONWriter.bytes(.object(body)))
    }

    /// Derived from the call and its time, because an adapter has no randomness.
    private var requestID: String {
        var hash = SHA256()
        hash.update(data: Data("\(request.receivedAt) \(request.path)".utf8))
        hash.update(data: Data(request.body))
        return UUID(bytes: Array(hash.finalize().prefix(16)))?.lowercased ?? ""
    }
}
