package import Model

/// The facts that the vendor's answers to proxied calls establish (docs/routing.md#observation).
extension IPNSAdapter {
    package var observesReads: Bool { true }

    package func observedCommands(
        _ request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Command] {
        var settings = IPNSSettings(settings)
        guard verdict(of: response) == .accepted, let call = try? Self.mapped(request, settings),
            let operation = call.operation
        else { return [] }
        // The vendor changes the device of the token (docs/contracts/ipns.md#2.8). For a call without one it has decided that the device's ID is sufficient.
        let token = try? call.fields.text(.pushToken, limit: IPNSLimits.tokenBytes)
        if token == nil { settings.trustsDeviceID = true }
        let reading = IPNSRequest(operation: operation, fields: call.fields, settings: settings, idempotencyKey: nil)
        let answer = (try? JSONParser.parse(response.body))?.object ?? JSONObject()
        return (try? IPNSObservation(reading, answer).commands()) ?? []
    }

    /// The number of a message, under either of its names.
    package func reference(in request: VendorRequest, settings: BindingSettings) -> String? {
        let settings = IPNSSettings(settings)
        guard let call = try? Self.mapped(request, settings), let operation = call.operation else { return nil }
        switch operation {
        case .recvReport, .readReport, .getMsgDetail: break
        case .appRegist, .updateConfig, .getConfig, .getMsgs, .polling, .send: return nil
        }
        return try? IPNSRequest(operation: operation, fields: call.fields, settings: settings, idempotencyKey: nil)
            .number(.reqID, or: .msgID)
    }
}

/// One call with the vendor's answer.
struct IPNSObservation {
    private let request: IPNSRequest
    private let answer: JSONObject

    init(_ request: IPNSRequest, _ answer: JSONObject) {
        self.request = request
        self.answer = answer
    }

    /// - Throws: `AdapterError` for a call that the gateway cannot read, although the vendor accepted it.
    func commands() throws(AdapterError) -> [Command] {
        switch request.operation {
        case .appRegist: return try registration()
        case .updateConfig, .recvReport, .readReport: return try request.commands()
        case .polling: return try polled()
        case .send: return [.submission(.observe(try message()))]
        case .getConfig, .getMsgs, .getMsgDetail: return []
        }
    }

    /// The device has the vendor's `DEVICE_ID`, and the vendor's `PUSH_YN` if the call states none.
    private func registration() throws(AdapterError) -> [Command] {
        let given = answer["DEVICE_ID"]?.lenientString.flatMap { $0.isEmpty ? nil : VendorDeviceKey($0) }
        let own = try request.caller()
        let caller = DeviceCaller(key: given ?? own.key, token: own.token)
        var commands: [Command] = []
        var isStated = false
        for command in try request.registration() {
            switch command {
            case .registration(.register(var registration)):
                registration.key = given ?? registration.key
                commands.append(.registration(.register(registration)))
            case .preference(.setPreferences(_, let change)):
                isStated = true
                commands.append(.preference(.setPreferences(caller, change)))
            default: break  // the read for an answer
            }
        }
        guard !isStated, let accepts = Self.flag(answer["PUSH_YN"]) else { return commands }
        let change = PreferenceChange(acceptsPush: accepts)
        return commands + [.preference(.setPreferences(caller, change))]
    }

    private static func flag(_ value: JSON?) -> Bool? {
        switch value?.string {
        case "Y": true
        case "N": false
        default: nil  // absent
        }
    }

    /// The vendor counts what it returns as received.
    private func polled() throws(AdapterError) -> [Command] {
        let caller = try request.caller()
        return (answer["LIST"]?.array ?? []).prefix(HistoryPage.limit).compactMap { entry -> Command? in
            guard let number = entry["REQ_ID"]?.lenientString, !number.isEmpty else { return nil }
            return .receipt(.reportNumber(.received, number: number, caller: caller))
        }
    }

    private func message() throws(AdapterError) -> ObservedMessage {
        let submission = try request.submission()
        let missing = (answer["NOT_FOUND"]?.array ?? []).prefix(Audience.listedLimit).compactMap(\.lenientString)
        let isOfUsers = if case .users = submission.audience { true } else { false }
        let unknown = missing.map { name -> Address in
            isOfUsers ? .user(UserID(name)) : .deviceKey(VendorDeviceKey(name))
        }
        let reference = UpstreamResult.reference(answer["MESSAGE_ID"])
        return ObservedMessage(submission, references: reference.map { [$0] } ?? [], unknown: Set(unknown))
    }
}
