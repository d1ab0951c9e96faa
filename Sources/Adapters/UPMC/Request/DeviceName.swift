import Model

/// The device of a call: the push network and the id that the SDK generated. Together they are its key.
struct DeviceName: Equatable {
    /// `PNSID`. The gateway sends only to `APNS`; devices of other networks are stored, and counted by their network.
    enum Network: String, CaseIterable {
        case apns = "APNS"
        case fcm = "FCM"
        case gcm = "GCM"
        case upns = "UPNS"
        case web = "WPNS"

        var platform: Platform { self == .apns ? .ios : .android }

        /// The network in a key.
        init?(_ key: VendorDeviceKey) {
            guard let name = key.rawValue.split(separator: ":").first else { return nil }
            self.init(rawValue: String(name))
        }
    }

    var network: Network
    var key: VendorDeviceKey
    var token: DeviceToken?

    /// - Throws: `AdapterError` for an invalid network or token; `.missing` if the call has neither `DEVICE_ID` nor `PSID`.
    init(_ parameters: Parameters) throws(AdapterError) {
        network = try Self.network(parameters)
        token = try Self.token(parameters, network)
        if let device = try parameters.text("DEVICE_ID", limit: 120) {
            key = VendorDeviceKey("\(network.rawValue):\(device)")
        } else if let token {
            key = VendorDeviceKey("\(network.rawValue):#\(Digest.sha1(token.text))")
        } else {
            throw AdapterError(.missing, field: "DEVICE_ID")
        }
    }

    /// The network that the call names, otherwise the one of the device type.
    static func network(_ parameters: Parameters) throws(AdapterError) -> Network {
        guard let name = try parameters.text("PNSID") else {
            return parameters.all("DEVICE_TYPE").last?.uppercased() == "A" ? .fcm : .apns
        }
        guard let network = Network(rawValue: name.uppercased()) else { throw AdapterError(.invalid, field: "PNSID") }
        return network
    }

    /// `PSID`; nil if absent.
    ///
    /// Old iOS libraries send a description of the token's bytes (docs/contracts/upmc.md#1.8). This is not a token, so the app gets an error.
    static func token(_ parameters: Parameters, _ network: Network) throws(AdapterError) -> DeviceToken? {
        guard let text = try parameters.text("PSID", limit: UPMCLimits.tokenBytes) else { return nil }
        guard let token = token(text, network) else { throw AdapterError(.invalid, field: "PSID") }
        return token
    }

    /// An APNs token is hex with 64 digits or more, possibly in angle brackets and with spaces; tokens of other networks are opaque.
    static func token(_ text: String, _ network: Network) -> DeviceToken? {
        guard network == .apns else { return DeviceToken(fcm: text) }
        let digits = text.filter { $0 != "<" && $0 != ">" && $0 != " " }
        return digits.utf8.count >= 64 ? DeviceToken(apns: digits) : nil
    }

    /// The reporter of a receipt, as far as it can be read. Errors are ignored, because a receipt must not make an app fail.
    ///
    /// Numbers of messages count from 1 and users are known, so a user alone reports only if the binding permits it (`receiptsByUser`).
    static func reporter(_ parameters: Parameters, _ settings: UPMCSettings) -> BadgeHolder {
        let name = try? DeviceName(parameters)
        let text = parameters.all("PSID").last ?? ""
        let token = name?.token ?? Self.token(text, .apns) ?? DeviceToken(fcm: text)
        return BadgeHolder(
            key: name?.key,
            token: token,
            user: settings.acceptsReceiptsByUser ? (try? user(parameters)) ?? nil : nil
        )
    }

    /// `CUID`; nil for a guest.
    static func user(_ parameters: Parameters) throws(AdapterError) -> UserID? {
        guard let name = try parameters.text("CUID"), name != AuthKey.guest else { return nil }
        return UserID(name)
    }
}
