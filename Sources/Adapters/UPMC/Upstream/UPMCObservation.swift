package import Model

/// The facts that the vendor's answers to proxied calls establish (docs/routing.md#observation).
extension UPMCAdapter {
    /// The vendor has checked the caller, so that no `AUTHKEY` is looked at. An `AUTHKEY` of the answer belongs to the vendor and is not kept.
    package func observedCommands(
        _ request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Command] {
        guard let call = UPMCCall(path: request.path) else { return [] }
        if call.isMarketing { return Self.marketing(call, request, response) }
        let (verdict, answer) = Self.read(response)
        guard verdict == .accepted, let parameters = try? self.parameters(of: request) else { return [] }
        let reading = UPMCRequest(
            endpoint: call,
            parameters: parameters,
            settings: UPMCSettings(settings),
            receivedAt: request.receivedAt
        )
        let observation = UPMCObservation(reading, answer?.object ?? answer?.array?.first?.object ?? JSONObject())
        return (try? observation.commands()) ?? []
    }

    /// `SEQNO`. A number, or the id of a message of another dialect.
    package func reference(in request: VendorRequest, settings: BindingSettings) -> String? {
        switch UPMCCall(path: request.path) {
        case .acknowledge, .read, .message: break
        default: return nil  // the calls that are not about one message
        }
        let parameters = try? self.parameters(of: request)
        return (try? parameters?.text("SEQNO")).flatMap(\.self)
    }

    private static func marketing(
        _ call: UPMCCall,
        _ request: VendorRequest,
        _ response: VendorResponse
    ) -> [Command] {
        guard (200...201).contains(response.status), let answer = try? JSONParser.parse(response.body),
            answer["code"]?.lenientString == UPMCCode.success.rawValue,
            let command = try? MarketingRequest(request.body).command(call)
        else { return [] }
        return [command]
    }
}

/// One call with the vendor's answer.
struct UPMCObservation {
    private let request: UPMCRequest
    /// `BODY`, or its first element.
    private let answer: JSONObject

    init(_ request: UPMCRequest, _ answer: JSONObject) {
        self.request = request
        self.answer = answer
    }

    /// - Throws: `AdapterError` for a call that the gateway cannot read, although the vendor accepted it.
    func commands() throws(AdapterError) -> [Command] {
        switch request.endpoint {
        case .registerService, .addService, .registerUser, .registerServiceAndUser, .registerWebServiceAndUser,
            .deleteService, .deleteUser, .setBadge, .alive, .deleteGroup, .acknowledge, .read:
            return try request.commands()
        // The vendor has accepted the change, whatever the gateway knows about the device.
        case .joinGroup: return try group("") + [change(GroupChange(add: [request.member()]))]
        case .leaveGroup: return try group("") + [change(GroupChange(remove: [request.member()]))]
        case .registerGroup: return try group(answer["GROUPNAME"]?.lenientString ?? "")
        case .send, .sendToGroup, .sendToList: return [.submission(.observe(try message()))]
        // Keys and settings of the vendor, and reads.
        case .askingAuthorization, .encryptionKey, .getService, .groupUsers, .groups, .brokerConfiguration,
            .reallocateBroker, .putLog, .messageList, .message, .unreadCount, .lastSession, .purchase:
            return []
        }
    }

    private func change(_ change: GroupChange) throws(AdapterError) -> Command {
        .group(.changeMembers(try request.group(), change))
    }

    /// `GROUPSEQ` of the answer, otherwise of the call: the vendor's number of the group.
    private func group(_ title: String) throws(AdapterError) -> [Command] {
        let name: String
        if let given = answer["GROUPSEQ"]?.lenientString, !given.isEmpty,
            given.utf8.count <= UPMCLimits.identifierBytes
        {
            name = given
        } else {
            name = try request.parameters.required("GROUPSEQ")
        }
        return [.group(.adopt(TitledGroup(name: GroupName(name), title: title)))]
    }

    private func message() throws(AdapterError) -> ObservedMessage {
        let submission = try request.submission()
        let data = submission.content.data
        let isPaid = data[DataKey.textsOnFailure] != nil || data[DataKey.textWait] != nil
        let missing = (answer["NOTEXISTCUIDS"]?.array ?? []).prefix(Audience.listedLimit).compactMap(\.lenientString)
        let number = UpstreamResult.reference(answer["SENDMSG_SEQNO"])
        // Reservations are counted apart from messages, so that one number may name both.
        let reserved = UpstreamResult.reference(answer["RESERVE_SEQNO"]).map { "RESERVE_SEQNO:\($0)" }
        return ObservedMessage(
            submission,
            references: [number, reserved].compactMap(\.self),
            unknown: Set(missing.map { Address.user(UserID($0)) }),
            number: number.flatMap { Int64($0) },
            hasPaidFallback: isPaid
        )
    }
}
