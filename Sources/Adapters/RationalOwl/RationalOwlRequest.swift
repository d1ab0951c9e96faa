import Model

/// Decodes a call of a device or sender to its command.
///
/// The required fields are those of docs/contracts/rationalowl.md#5 and docs/contracts/rationalowl.md#8; the vendor's own validation is unpublished. An
/// error names the field in the vendor's spelling, so that developers find it in the answer's `cmt`.
struct RationalOwlRequest {
    let endpoint: RationalOwlCall
    let fields: RationalOwlFields
    let settings: RationalOwlSettings
    /// The only indication of the platform if a body has no `dt`.
    let userAgent: String?
    /// A header of the gateway; the vendor has no way to repeat a send safely.
    let idempotencyKey: String?

    /// The commands of the call: one, or none if the call is answered and changes nothing.
    ///
    /// - Throws: `AdapterError` naming the field that is missing, invalid or over its limit.
    func commands() throws(AdapterError) -> [Command] {
        if endpoint == .unregUser, case .phone = try leaver(), !settings.unregistersByPhone { return [] }
        return [try command()]
    }

    private func command() throws(AdapterError) -> Command {
        switch endpoint {
        case .reqAuthNumber: .registration(try verificationRequest())
        case .verifyAuthNumber: .registration(try verification())
        case .installApp: .registration(.register(try installation()))
        case .unregUser: .registration(.unregister(try leaver()))
        case .notiRead: .receipt(readReceipt())
        case .msgInfo: .inbox(try deliveryInfo())
        case .imgData: .media(.fetch(message: try fields.required("mId"), media: try fields.required("iId")))
        case .deviceRegister: .registration(.register(try shimRegistration()))
        case .deviceToken: .registration(try shimToken())
        case .deviceUnregister: .registration(.unregister(.key(try deviceKey())))
        case .deviceState: .inbox(try shimState())
        case .notiDelivered: .receipt(try shimReceipt(.received))
        case .notiOpened: .receipt(try shimReceipt(.read))
        case .serverRegister:
            .sender(.register(name: try fields.required("registerName", limit: RationalOwlLimits.nameBytes)))
        case .clientRegister: .sender(try enrolment())
        case .sendByPhoneNumber: .submission(.submit(try submission(to: .phones)))
        case .sendByDeviceID: .submission(.submit(try submission(to: .devices)))
        case .setCallbackURL: .sender(try callback())
        }
    }
}

// MARK: Device calls (docs/contracts/rationalowl.md#5)

extension RationalOwlRequest {
    /// `installApp`. Each call updates the fields that it contains, also for a known device (docs/contracts/rationalowl.md#5.1).
    private func installation() throws(AdapterError) -> DeviceRegistration {
        try checkServiceID()
        let platform = try platform()
        let phone = try fields.phone("pn")
        return DeviceRegistration(
            key: try deviceKey(),
            platform: platform,
            environment: try environment(),
            token: try token(for: platform),
            user: try fields.text("auId").map { UserID($0) },
            name: try fields.text("n", limit: RationalOwlLimits.nameBytes),
            phone: phone?.digits,
            rawPhone: phone?.raw,
            // RationalUMS identifies users by phone: a new device with a known phone replaces the old one.
            replacesSamePhone: phone != nil
        )
    }

    /// The vendor document lists `sId`, but no sample sends it: a wrong one is refused only if the operator requires it.
    private func checkServiceID() throws(AdapterError) {
        guard settings.isServiceIDStrict, let expected = settings.serviceID else { return }
        guard let given = try fields.text("sId"), given != expected else { return }
        throw AdapterError(.unauthorized, field: "sId")
    }

    /// `unregUser`: the named device, otherwise every device of the phone (apps before March 2025 name no device).
    private func leaver() throws(AdapterError) -> IdentitySelector {
        if let key = try fields.text("dRId") { return .key(VendorDeviceKey(key)) }
        guard let phone = try fields.phone("pn") else { throw fields.missing(fields.has("pn") ? "pn" : "dRId") }
        return .phone(phone.digits)
    }

    private func verificationRequest() throws(AdapterError) -> RegistrationCommand {
        guard let phone = try fields.phone("pn") else { throw fields.missing("pn") }
        return .requestVerification(phone: phone.digits, countryCode: try fields.text("cc"))
    }

    private func verification() throws(AdapterError) -> RegistrationCommand {
        guard let phone = try fields.phone("pn") else { throw fields.missing("pn") }
        // The platform only determines the format of the answer, so it may be absent.
        let platform = fields.has("dt") ? try platform() : ClientHint.platform(userAgent: userAgent)
        return .verify(phone: phone.digits, code: try fields.required("an"), platform: platform)
    }

    /// `notiRead` is never refused: an unknown message or device is counted as an orphan and answered like a success
    /// (docs/contracts/rationalowl.md#5.5).
    private func readReceipt() -> ReceiptCommand {
        .report(.read, message: (try? fields.text("mId")).flatMap(\.self) ?? "", reporter: reporter(), at: nil)
    }

    private func deliveryInfo() throws(AdapterError) -> InboxCommand {
        let message = try fields.required("mId")
        _ = try deviceKey()
        return .deliveryInfo(message: message, reporter: reporter())
    }

    /// The device, with its phone as a hint. An unreadable hint is ignored.
    private func reporter() -> Reporter {
        let key = (try? fields.text("dRId")).flatMap(\.self)
        let phone = (try? fields.phone("pn")).flatMap(\.self)
        return Reporter(key: key.map { VendorDeviceKey($0) }, phone: phone?.digits)
    }
}

// MARK: Fields of several calls

extension RationalOwlRequest {
    func deviceKey() throws(AdapterError) -> VendorDeviceKey {
        VendorDeviceKey(try fields.required("dRId"))
    }

    /// `dt`: 1 Android, 2 iOS. If it is absent, the client's `User-Agent` decides.
    func platform() throws(AdapterError) -> Platform {
        switch try fields.integer("dt") {
        case 1: return .android
        case 2: return .ios
        case .some: throw fields.invalid("dt")
        case nil:
            guard let platform = ClientHint.platform(userAgent: userAgent) else { throw fields.missing("dt") }
            return platform
        }
    }

    /// `tk`, the gateway's own field: the push token, which the vendor's REST API never contains (docs/contracts/rationalowl.md#7.4).
    func token(for platform: Platform) throws(AdapterError) -> DeviceToken? {
        guard let text = try fields.text("tk", limit: DeviceToken.maximumTextBytes) else { return nil }
        let token = platform == .ios ? DeviceToken(apns: text) : DeviceToken(fcm: text)
        guard let token else { throw fields.invalid("tk") }
        return token
    }

    /// `env`, the gateway's own field: `dev` or `prod`.
    func environment() throws(AdapterError) -> PushEnvironment? {
        switch try fields.text("env") {
        case nil: return nil
        case "dev", "sandbox": return .sandbox
        case "prod", "production": return .production
        case .some: throw fields.invalid("env")
        }
    }
}
