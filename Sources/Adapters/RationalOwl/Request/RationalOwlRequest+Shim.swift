import Model

/// The gateway's own calls, which replace the vendor's closed device channel (docs/contracts/rationalowl.md#7.4).
extension RationalOwlRequest {
    /// `device/register`, which has no device key: the gateway derives one from the token, so that a token always identifies the same device. Without a
    /// token it generates one.
    func shimRegistration() throws(AdapterError) -> DeviceRegistration {
        let platform = try platform()
        var registration = DeviceRegistration(
            key: nil,
            platform: platform,
            environment: try environment(),
            token: try token(for: platform),
            name: try fields.text("name", limit: RationalOwlLimits.nameBytes),
            attributes: try attributes()
        )
        registration.derivesKey = true
        registration.client = ClientFacts([.osVersion: try fields.text("osVer"), .model: try fields.text("model")])
        return registration
    }

    func shimToken() throws(AdapterError) -> RegistrationCommand {
        let key = try deviceKey()
        // The platform is not sent again, and the two kinds of token cannot be confused: an FCM token is never plain hex.
        let text = try fields.required("tk", limit: DeviceToken.maximumTextBytes)
        guard let token = DeviceToken(apns: text) ?? DeviceToken(fcm: text) else { throw fields.invalid("tk") }
        return .updateToken(key: key, token: token, environment: try environment())
    }

    func shimState() throws(AdapterError) -> InboxCommand {
        let key = try deviceKey()
        switch try fields.required("state") {
        case "active": return .appState(key: key, isActive: true)
        case "background": return .appState(key: key, isActive: false)
        default: throw fields.invalid("state")  // any other text
        }
    }

    /// `noti/delivered` and `noti/opened`. The time is used as reported; `ReceiptRules` handles a wrong clock.
    func shimReceipt(_ kind: ReceiptKind) throws(AdapterError) -> ReceiptCommand {
        let reporter = Reporter(key: try deviceKey())
        let time = try fields.integer("t")
        if let time, time < 0 { throw fields.invalid("t") }
        return .report(
            kind,
            message: try fields.required("mId"),
            reporter: reporter,
            at: time.map { Timestamp(milliseconds: $0) }
        )
    }

    private func attributes() throws(AdapterError) -> JSONObject {
        var attributes = JSONObject()
        for key in ["bundleId", "model", "osVer"] {
            attributes[key] = try fields.text(key).map { .string($0) }
        }
        return attributes
    }
}
