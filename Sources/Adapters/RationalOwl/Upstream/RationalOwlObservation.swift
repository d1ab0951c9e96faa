package import Model

/// The facts that the vendor's answers to proxied calls establish (docs/routing.md#observation).
extension RationalOwlAdapter {
    package func observedCommands(
        _ request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Command] {
        guard let call = RationalOwlCall(rawValue: request.route), let fields = try? self.fields(of: request),
            let answer = RationalOwlObservation.answer(call, response)
        else { return [] }
        let reading = RationalOwlRequest(
            endpoint: call,
            fields: fields,
            settings: RationalOwlSettings(settings),
            userAgent: request.header("User-Agent"),
            idempotencyKey: nil
        )
        return (try? RationalOwlObservation(reading, answer).commands()) ?? []
    }

    /// `mId`.
    package func reference(in request: VendorRequest, settings: BindingSettings) -> String? {
        switch RationalOwlCall(rawValue: request.route) {
        case .notiRead, .msgInfo, .imgData, .notiDelivered, .notiOpened: break
        default: return nil  // the calls that are not about one message
        }
        let fields = try? self.fields(of: request)
        return (try? fields?.text("mId")).flatMap(\.self)
    }
}

/// One call with the vendor's answer.
struct RationalOwlObservation {
    private let request: RationalOwlRequest
    private let answer: JSONObject

    init(_ request: RationalOwlRequest, _ answer: JSONObject) {
        self.request = request
        self.answer = answer
    }

    /// The codes that say that the object of a registration exists already (docs/contracts/rationalowl.md#4.2, docs/contracts/rationalowl.md#7.1).
    private static let already: Set<Int64> = [-102, -202, -301, -122]

    /// The object of an answer by which the vendor accepted the call; empty for the text of `notiRead`. Nil: it did not, or does not say so.
    static func answer(_ call: RationalOwlCall, _ response: VendorResponse) -> JSONObject? {
        guard response.status == 200 else { return nil }
        guard let object = (try? JSONParser.parse(response.body))?.object else {
            return call == .notiRead && response.body == Array("ok".utf8) ? JSONObject() : nil
        }
        if object["error"] != nil { return nil }
        guard let result = object["rc"] else { return hasResult(call, object) ? object : nil }
        guard let code = result.lenientInt else { return nil }
        return code == 1 || isRegistration(call) && already.contains(code) ? object : nil
    }

    /// The documented success of a send and of a registration of a back end has no code, but an ID.
    private static func hasResult(_ call: RationalOwlCall, _ answer: JSONObject) -> Bool {
        switch call {
        case .sendByPhoneNumber, .sendByDeviceID: UpstreamResult.reference(answer["mId"]) != nil
        case .serverRegister: UpstreamResult.reference(answer["serverRegId"]) != nil
        case .clientRegister: UpstreamResult.reference(answer["srId"]) != nil
        default: false  // every other call is answered with a code
        }
    }

    static func isRegistration(_ call: RationalOwlCall) -> Bool {
        switch call {
        case .installApp, .deviceRegister, .serverRegister, .clientRegister: true
        default: false  // nothing that could exist already
        }
    }

    /// - Throws: `AdapterError` for a call that the gateway cannot read, although the vendor accepted it.
    func commands() throws(AdapterError) -> [Command] {
        switch request.endpoint {
        case .installApp, .unregUser, .notiRead, .deviceToken, .deviceUnregister, .notiDelivered, .notiOpened,
            .setCallbackURL:
            return try request.commands()
        // The gateway's own call, for a vendor that is another gateway.
        case .deviceRegister:
            guard let key = word("dRId") else { return [] }
            var registration = try request.shimRegistration()
            registration.key = VendorDeviceKey(key)
            return [.registration(.register(registration))]
        case .serverRegister:
            guard let id = word("serverRegId") else { return [] }
            let name = try request.fields.required("registerName", limit: RationalOwlLimits.nameBytes)
            return [.sender(.adopt(AdoptedSender(id: SenderID(id), name: name)))]
        case .clientRegister:
            guard let key = word("srId"), case .enrol(let id, _, let address) = try request.enrolment() else {
                return []
            }
            return [.sender(.adopt(AdoptedSender(id: id, enrolmentKey: key, address: address)))]
        case .sendByPhoneNumber: return [.submission(.observe(try message(to: .phones)))]
        case .sendByDeviceID: return [.submission(.observe(try message(to: .devices)))]
        // Codes of the vendor, and reads.
        case .reqAuthNumber, .verifyAuthNumber, .msgInfo, .imgData, .deviceState: return []
        }
    }

    /// A vendor's ID in the answer. Nil: absent, or not a word.
    private func word(_ name: String) -> String? { UpstreamResult.reference(answer[name]) }

    /// Unknown phones and devices are targets of the vendor too: it reports them later. The image stays at the vendor.
    private func message(to naming: RationalOwlRequest.TargetNaming) throws(AdapterError) -> ObservedMessage {
        var submission = try request.submission(to: naming)
        submission.image = nil
        return ObservedMessage(
            submission,
            references: word("mId").map { [$0] } ?? [],
            hasPaidFallback: submission.fallback != nil
        )
    }
}
