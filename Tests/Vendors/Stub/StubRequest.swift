import Model

/// Decodes a request to a command.
struct StubRequest {
    private let call: StubCall
    private let body: JSONObject

    /// - Throws: `AdapterError(.unreadable)` when the body is not a JSON object.
    init(_ call: StubCall, _ request: VendorRequest) throws(AdapterError) {
        self.call = call
        body = try request.once { (request) throws(AdapterError) in
            guard let object = (try? JSONParser.parse(request.body))?.object else { throw AdapterError(.unreadable) }
            return object
        }
    }

    /// - Throws: `AdapterError` naming the wrong field.
    func command(settings: StubBinding) throws(AdapterError) -> Command {
        switch call {
        case .register: .registration(.register(try registration()))
        case .send: .submission(.submit(try submission(settings)))
        case .receipt:
            .receipt(
                .report(
                    .received,
                    message: try text("message"),
                    reporter: Reporter(key: VendorDeviceKey(try text("device"))),
                    at: nil
                )
            )
        }
    }

    private func registration() throws(AdapterError) -> DeviceRegistration {
        guard let token = DeviceToken(apns: try text("token")) else { throw AdapterError(.invalid, field: "token") }
        return DeviceRegistration(
            key: VendorDeviceKey(try text("device")),
            platform: .ios,
            token: token,
            user: try optionalText("owner").map { UserID($0) }
        )
    }

    private func submission(_ settings: StubBinding) throws(AdapterError) -> Submission {
        Submission(
            content: Content(body: try text("text", limit: StubLimits.textBytes)),
            audience: .listed([Addressee(.deviceKey(VendorDeviceKey(try text("device"))))]),
            timing: SubmissionTiming(timeToLive: settings.timeToLive),
            lane: .transactional
        )
    }

    /// - Throws: `AdapterError` when it is absent, empty, too long or not text.
    func text(_ name: String, limit: Int = StubLimits.identifierBytes) throws(AdapterError) -> String {
        guard let text = try optionalText(name, limit: limit) else { throw AdapterError(.missing, field: name) }
        return text
    }

    private func optionalText(_ name: String, limit: Int = StubLimits.identifierBytes) throws(AdapterError) -> String? {
        guard let value = body[name] else { return nil }
        guard let text = value.string, text.utf8.count <= limit else { throw AdapterError(.invalid, field: name) }
        return text.isEmpty ? nil : text
    }
}
