import HTTPTypes
package import Model

/// The adapter of a small dialect with an upstream. The app is in the header `X-Relay-App`; bodies are JSON. It registers devices, reads them, and takes receipts
/// (`device`, `message`); it refuses everything else after its proof.
package struct RelayAdapter: UpstreamAdapter {
    package static let vendor: Vendor = "relay"
    package static let keyHeader = "X-Relay-Key"
    /// A caller that sends it gets the upstream's host in its place, as a signature of the host would be written again.
    private static let hostHeader = "X-Relay-Host"

    package init() {}

    package var vendor: Vendor { Self.vendor }
    package var reports: Reporting { Reporting(received: .reported, read: .never) }
    package var senders: SenderForm? { SenderForm(ownKey: .init(header: Self.keyHeader, secret: "sendKey")) }

    package var routes: [VendorRoute] {
        // 1 MiB: more than the bodies that are read at once.
        [
            VendorRoute(name: "register", path: .exact("/relay/register"), bodyLimitBytes: 1 << 20),
            VendorRoute(name: "send", path: .exact("/relay/send"), bodyLimitBytes: 1 << 20),
            VendorRoute(name: "receipt", path: .exact("/relay/receipt"), bodyLimitBytes: 1 << 20),
            VendorRoute(name: "read", path: .prefix("/relay/read"), bodyLimitBytes: 1 << 20),
            VendorRoute(name: "other", path: .prefix("/relay"), bodyLimitBytes: 1 << 20),
        ]
    }

    package func locate(_ request: VendorRequest) throws(AdapterError) -> (BindingKey, CallerKind) {
        guard let app = request.header("X-Relay-App") else { throw AdapterError(.missing, field: "app") }
        let key = BindingKey(vendor: vendor, kind: "app", value: app)
        let isSender = request.route == "send" || request.header("X-Relay-Sender") != nil
        return (key, isSender ? .sender : .device)
    }

    package func decode(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) -> [Command] {
        let body = try request.bodyObject()
        if request.route == "read", let device = body["device"]?.string {
            return [.registration(.standing(key: VendorDeviceKey(device)))]
        }
        if request.route == "receipt", let device = body["device"]?.string, let message = body["message"]?.string {
            let reporter = Reporter(key: VendorDeviceKey(device))
            return [.receipt(.report(.received, message: message, reporter: reporter, at: nil))]
        }
        guard request.route == "register" else { throw AdapterError(.invalid) }
        guard let device = body["device"]?.string, let token = body["token"]?.string.flatMap({ DeviceToken(apns: $0) })
        else { throw AdapterError(.missing, field: "device") }
        let registration = DeviceRegistration(
            key: VendorDeviceKey(device),
            platform: .ios,
            token: token,
            user: body["user"]?.string.map { UserID($0) }
        )
        return [.registration(.register(registration))]
    }

    package func encode(_ replies: [Reply], for request: VendorRequest, settings: BindingSettings) -> VendorResponse {
        switch replies.first {
        case .registration(.registered)?: Self.answer(200, "registered")
        case .registration(.standing(.some))?: Self.answer(200, "known")
        case .receipt(let receipt)?: Self.answer(200, receipt == .orphan ? "orphan" : "received")
        case .refused(.unavailable(let time))?: Self.answer(503, "unavailable", retryAfter: time)
        case .refused(.rateLimited(let time, _))?: Self.answer(429, "slower", retryAfter: time)
        default: Self.answer(400, "refused")
        }
    }

    package func refuse(_ error: AdapterError, for request: VendorRequest, settings: BindingSettings) -> VendorResponse
    {
        switch error.code {
        case .unauthorized: Self.answer(401, "unauthorized")
        case .notFound, .methodNotAllowed: Self.answer(404, "unknown")
        default: Self.answer(400, "invalid")
        }
    }

    private static func answer(_ status: Int, _ code: String, retryAfter: Duration? = nil) -> VendorResponse {
        var headers = HTTPFields()
        headers[.contentType] = "application/json"
        headers[.retryAfter] = retryAfter.map { "\($0.components.seconds)" }
        let body: JSON = ["relay": .string(code)]
        return VendorResponse(status: status, headers: headers, body: JSONWriter.bytes(body))
    }

    package func payload(
        for notification: Notification,
        to target: TargetFacts,
        settings: BindingSettings
    ) throws(AdapterError) -> PushPayload { throw AdapterError(.invalid) }

    // MARK: Upstream

    package var upstreamForm: UpstreamForm { UpstreamForm(exampleURL: "https://relay.example.com", fields: []) }

    package func kind(of request: VendorRequest, settings: BindingSettings) -> CallKind {
        switch request.route {
        case "register": .device
        case "send": .send
        case "receipt": .receipt
        case "read": .read
        default: .other
        }
    }

    package func named(in request: VendorRequest, settings: BindingSettings) -> NamedTargets {
        guard request.route == "send", let body = try? request.bodyObject() else { return .audience }
        if let devices = body["devices"]?.array?.compactMap(\.string) {
            return .targets(devices.map { RolloutFacts(device: $0) })
        }
        guard let users = body["users"]?.array?.compactMap(\.string) else { return .audience }
        return .targets(users.map { RolloutFacts(user: $0) })
    }

    package func appVersion(in request: VendorRequest) -> String? { request.header("X-Relay-Version") }

    /// A send to `users`, whose answer has the vendor's `id`; a send with `paid` has a paid fallback. Registrations and receipts are those of the call.
    package func observedCommands(
        _ request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Command] {
        guard response.status == 200, request.route != "read", let body = try? request.bodyObject() else { return [] }
        guard request.route == "send" else { return (try? decode(request, settings: settings)) ?? [] }
        let answer = (try? JSONParser.parse(response.body))?.object ?? JSONObject()
        let users = body["users"]?.array?.compactMap(\.string).map { UserID($0) }
        let submission = Submission(
            content: Content(body: body["text"]?.string ?? ""),
            audience: users.map { Audience.users($0) } ?? .everyone
        )
        let message = ObservedMessage(
            submission,
            references: [answer["id"]?.string].compactMap(\.self),
            number: answer["id"]?.string.flatMap { Int64($0) },
            hasPaidFallback: body["paid"] == true
        )
        return [.submission(.observe(message))]
    }

    package func reference(in request: VendorRequest, settings: BindingSettings) -> String? {
        request.route == "receipt" ? (try? request.bodyObject())?["message"]?.string : nil
    }

    package func admit(_ request: VendorRequest, settings: BindingSettings) throws(AdapterError) {
        if request.header("X-Relay-Unsigned") != nil { throw AdapterError(.unauthorized) }
    }

    package func prepare(
        _ request: VendorRequest,
        for upstream: UpstreamSettings,
        host: String,
        at time: Timestamp
    ) -> VendorRequest? {
        if request.header("X-Relay-Unfit") != nil { return nil }
        guard let name = HTTPField.Name(Self.hostHeader), request.headers[name] != nil else { return request }
        var request = request
        request.headers[name] = host
        return request
    }

    package func outbound(
        _ notification: Notification,
        to targets: [TargetFacts],
        through upstream: UpstreamSettings,
        settings: BindingSettings,
        at time: Timestamp
    ) throws(AdapterError) -> [UpstreamCall] { [] }

    /// A status below 300 is an acceptance, and others prove what they say everywhere. 299 gives too few outcomes.
    package func outcome(of call: UpstreamCall, response: VendorResponse) -> UpstreamResult {
        if response.status == 299 { return UpstreamResult([.acceptedByUpstream]) }
        if response.status < 300 { return UpstreamResult(.acceptedByUpstream, for: call, reference: "m-1") }
        return UpstreamResult(Outcome(refusedBy: response) ?? .unclear, for: call)
    }
}
