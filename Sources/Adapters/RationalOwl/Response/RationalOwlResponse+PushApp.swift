import Model

/// The seven device calls (docs/contracts/rationalowl.md#5).
extension RationalOwlResponse {
    func pushApp(_ reply: Reply) -> VendorResponse {
        switch (endpoint, reply) {
        case (.installApp, .registration(.registered(let device))): installed(device)
        // Unregistering an unknown device succeeds, because the apps delete their own data only then (docs/contracts/rationalowl.md#5.2).
        case (.unregUser, .registration(.unregistered)), (.unregUser, .refused(.unknownDevice)): succeed()
        case (.reqAuthNumber, .registration(.verificationSent)): succeed()
        // Too many requests for this phone, or no SMS provider: the call's own failure, under 200 (docs/contracts/rationalowl.md#5.3).
        case (.reqAuthNumber, .refused(.rateLimited)), (.reqAuthNumber, .refused(.unsupported)):
            fail(.verificationNotSent)
        case (.verifyAuthNumber, .registration(.verified(let isRight, let platform))):
            .json(pushAppBody(isRight ? .success : Verdict(.wrongVerificationCode), stored: platform))
        case (.notiRead, .receipt): .text("ok")
        case (.notiRead, .refused(let refusal)): refusedReceipt(refusal)
        case (.msgInfo, .inbox(.deliveryInfo(let delivery, let platform))):
            .json(pushAppBody(.success, stored: platform, states: FallbackStates(delivery.fallback)))
        case (.imgData, .media(.bytes(let bytes, _))): .json(pushAppBody(.success, image: Base64Image.encode(bytes)))
        case (_, .refused(let refusal)): fail(RationalOwlError(refusal, at: endpoint))
        default: mismatch()  // a reply to another call's command
        }
    }

    /// The body of every `/pushApp` answer except that of `notiRead`. The keys of each call are defined only here.
    func pushAppBody(
        _ verdict: Verdict,
        stored: Platform? = nil,
        serverRegistrationID: String = "",
        states: FallbackStates = .none,
        image: String = ""
    ) -> JSON {
        let code = JSON.int(verdict.code.rawValue)
        let comment = JSON.string(verdict.comment)
        var body = JSONObject([("cId", .int(commandID)), ("aId", .string(fields.echo("aId")))])
        for key in endpoint == .unregUser ? leaverKeys : [] { body[key] = .string(fields.echo(key)) }
        body["rc"] = code
        switch endpoint {
        case .verifyAuthNumber:
            for key in commentKeys(isSuccess: verdict.code == .ok, stored: stored) { body[key] = comment }
        case .installApp:
            body["cmt"] = comment
            body["usRid"] = .string(serverRegistrationID)
        case .msgInfo:
            body["cmt"] = comment
            body["mId"] = .string(fields.echo("mId"))
            addStates(states, stored: stored, to: &body)
        case .imgData:
            body["cmt"] = comment
            body["imgD"] = .string(image)
        case .reqAuthNumber, .unregUser: body["cmt"] = comment
        case .notiRead, .deviceRegister, .deviceToken, .deviceUnregister, .deviceState, .notiDelivered, .notiOpened,
            .serverRegister, .clientRegister, .sendByPhoneNumber, .sendByDeviceID, .setCallbackURL:
            // `notiRead` comes here only with a status that has no format of its own; the other calls are not `/pushApp` calls.
            return .pairs(["rc": code, "cmt": comment])
        }
        return .object(body)
    }

    /// The value of `cId`. The path decides, not the request (docs/contracts/rationalowl.md#3); the class `PushAppProto` of the vendor's samples lists
    /// the values (docs/contracts/rationalowl.md#4.1).
    private var commandID: Int {
        switch endpoint {
        case .reqAuthNumber: 301
        case .verifyAuthNumber: 302
        case .installApp: 303
        case .unregUser: 305
        case .notiRead: 311
        case .msgInfo: settings.msgInfoCommandID(default: 312)
        case .imgData: 313
        case .deviceRegister, .deviceToken, .deviceUnregister, .deviceState, .notiDelivered, .notiOpened,
            .serverRegister,
            .clientRegister, .sendByPhoneNumber, .sendByDeviceID, .setCallbackURL:
            0
        }
    }

    private func succeed() -> VendorResponse { .json(pushAppBody(.success)) }

    private func installed(_ device: Registered) -> VendorResponse {
        let code = device.wasActive ? settings.alreadyCode.code(for: device.platform) : .ok
        let verdict = code == .ok ? .success : Verdict(code: code, comment: "이미 등록된 단말입니다.")
        return .json(
            pushAppBody(
                verdict,
                serverRegistrationID: settings.serverRegistrationID(account: fields.echo("aId"))
            )
        )
    }

    /// Unknown ids are orphans and answered like receipts. Failures of the gateway are answered as errors, so that the receipt is sent again.
    private func refusedReceipt(_ refusal: Refusal) -> VendorResponse {
        switch refusal {
        case .unavailable:
            .text("error", status: 503, headers: RationalOwlError(refusal, at: endpoint).headers)
        case .rateLimited: fail(RationalOwlError(refusal, at: endpoint))
        case .unknownBinding, .unauthorized, .unknownDevice, .unknownMessage, .unknownMedia, .unknownSender,
            .unknownGroup, .unknownTemplate, .noRecipients, .noCredential, .invalid, .tooMany, .idempotencyMismatch,
            .unsupported, .outdated:
            .text("ok")
        }
    }

    /// Exactly the identifiers of the request; the device's if it had none.
    private var leaverKeys: [String] {
        let given = ["pn", "dRId"].filter(fields.has)
        return given.isEmpty ? ["dRId"] : given
    }

    /// The iOS demo crashes without a comment key; strict Android clients accept neither in a success (docs/contracts/rationalowl.md#2.1, rule 4).
    private func commentKeys(isSuccess: Bool, stored: Platform?) -> [String] {
        switch settings.profile {
        case .doc2023: ["c"]
        case .doc2025: ["cmt"]
        case .both: ["cmt", "c"]
        case .auto where platform(stored: stored) == .android: isSuccess ? [] : [settings.androidCommentKey]
        case .auto: ["cmt", "c"]
        }
    }

    private func addStates(_ states: FallbackStates, stored: Platform?, to body: inout JSONObject) {
        body["ast"] = .int(states.alimtalkTime)
        for key in alimtalkKeys(stored: stored) { body[key] = .int(states.alimtalk) }
        body["mst"] = .int(states.textTime)
        body["mt"] = .int(states.textType)
        body["ms"] = .int(states.text)
    }

    /// `as` became `ase` in 2025. Strict Android clients accept only one of them, iOS clients ignore the other (docs/contracts/rationalowl.md#2.1, rule 2).
    private func alimtalkKeys(stored: Platform?) -> [String] {
        switch settings.profile {
        case .doc2023: ["as"]
        case .doc2025: ["ase"]
        case .both: ["as", "ase"]
        case .auto where platform(stored: stored) == .android: fields.has("pn") || fields.has("r") ? ["as"] : ["ase"]
        case .auto: ["as", "ase"]
        }
    }
}
