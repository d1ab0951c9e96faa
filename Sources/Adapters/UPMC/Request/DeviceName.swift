import Model

/// Which device a call speaks of: the push network and the id that the SDK made for it. Both together are its key.
struct DeviceName: Equatable {
    /// `PNSID`. Only `APNS` is sent by this gateway; the others are stored, and count as what they are.
    enum Network: String, CaseIterable {
        case apns = "APNS"
        case fcm = "FCM"
        case gcm = "GCM"
        case upns = "UPNS"
        case web = "WPNS"

        var platform: Platform { self == .apns ? .ios : .android }

        /// The network that a key names.
        init?(_ key: VendorDeviceKey) {
            guard let name = key.rawValue.split(separator: ":").first else { return nil }
            self.init(rawValue: String(name))
        }
    }

    var network: Network
    var key: VendorDeviceKey
    var token: DeviceToken?

    /// - Throws: `AdapterError` for a network or a token that is none; `.missing` when neither `DEVICE_ID` nor `PSID` says which device.
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

    /// What is said, else what the device's type or its token suggests.
    static func network(_ parameters: Parameters) throws(AdapterError) -> Network {
        guard let name = try parameters.text("PNSID") else {
            return parameters.all("DEVICE_TYPE").last?.uppercased() == "A" ? .fcm : .apns
        }
        guard let network = Network(rawValue: name.uppercased()) else { throw AdapterError(.invalid, field: "PNSID") }
        return network
    }

    /// `PSID`; nil when there is none.
    ///
    /// Old iOS libraries send a description of the token's bytes (docs/contracts/upmc.md#1.8). This is not a token, so the app gets an error.
    static func token(_ parameters: Parameters, _ network: Network) throws(AdapterError) -> DeviceToken? {
        guard let text = try parameters.text("PSID", limit: UPMCLimits.tokenBytes) else { return nil }
        guard let token = token(text, network) else { throw AdapterError(.invalid, field: "PSID") }
        return token
    }

    /// An APNs token is hex of 64 digits or more, perhaps in angle brackets and with spaces; any other is opaque.
    static func token(_ text: String, _ network: Network) -> DeviceToken? {
        guard network == .apns else { return DeviceToken(fcm: text) }
        let digits = text.filter { $0 != "<" && $0 != ">" && $0 != " " }
        return digits.utf8.count >= 64 ? DeviceToken(apns: digits) : nil
    }

    /// Who reports, as far as it can be read: nothing here is refused, a receipt must not make an app fail.
    static func reporter(_ parameters: Parameters) -> BadgeHolder {
        let name = try? DeviceName(parameters)
        let text = parameters.all("PSID").last ?? ""
        let token = name?.token ?? Self.token(text, .apns) ?? DeviceToken(fcm: text)
        return BadgeHolder(key: name?.key, token: token, user: (try? user(parameters)) ?? nil)
    }

    /// `CUID`, unless it is nobody's.
    static func user(_ parameters: Parameters) throws(AdapterError) -> UserID? {
        guard let name = try parameters.text("CUID"), name != AuthKey.guest else { return nil }
        return UserID(name)
    }
}
