import Model

/// A device of a user as `/users/export/ids` shows it, in `devices` and in `push_tokens`.
struct ExportedDevice {
    private let device: UserDevice

    init(_ device: UserDevice) { self.device = device }

    /// The fields of `devices` except the id, each with the SDK's name for it.
    private static let texts = [
        ("model", "model"), ("os", "os_version"), ("carrier", "carrier"), ("idfv", "idfv"), ("idfa", "idfa"),
        ("google_ad_id", "google_ad_id"), ("roku_ad_id", "roku_ad_id"),
    ]

    var facts: JSONObject {
        var facts: JSONObject = ["device_id": .string(device.key.rawValue)]
        for (field, fact) in Self.texts {
            if let text = device.attributes[fact]?.string { facts[field] = .string(text) }
        }
        facts["ad_tracking_enabled"] = Self.flag(device.attributes["ad_tracking_enabled"])
        return facts
    }

    /// SDKs report a flag as a boolean, or as 0 or 1.
    private static func flag(_ value: JSON?) -> JSON? {
        switch value {
        case .bool(let flag)?: .bool(flag)
        case .number(let number)?: .bool(number != "0")
        default: nil
        }
    }

    /// Nil without a usable token.
    func token(of app: AppID) -> JSON? {
        guard let token = device.token else { return nil }
        return [
            "app": .string(app.rawValue), "platform": Self.name(of: device.platform), "token": .string(token.text),
            "device_id": .string(device.key.rawValue), "notifications_enabled": .bool(device.acceptsPush),
        ]
    }

    static func name(of platform: Platform) -> JSON { platform == .ios ? "iOS" : "Android" }
}

/// The use of the binding's app by one user, for `apps`, as the user's SDK reported it.
struct ExportedApp {
    /// The name of the SDK event that reports the start of a session.
    static let sessionStart = "ss"

    private let user: DescribedUser

    init(_ user: DescribedUser) { self.user = user }

    /// Nil if no SDK reported anything.
    var facts: JSONObject? {
        let versioned = user.devices.filter { $0.attributes["app_version"]?.string != nil }
        let sessions = user.tallies.first { $0.kind == .signal && $0.name == Self.sessionStart }
        let first = user.attributes["date_of_first_session"]
        let last = user.attributes["date_of_last_session"]
        guard !versioned.isEmpty || sessions != nil || first != nil || last != nil else { return nil }
        var facts: JSONObject = ["name": .string(user.app.rawValue)]
        facts["platform"] = (versioned.first ?? user.devices.first).map { ExportedDevice.name(of: $0.platform) }
        // It is unknown which device was used last, so the highest version is reported.
        facts["version"] = versioned.compactMap { $0.attributes["app_version"]?.string }
            .max { Self.numbers($0).lexicographicallyPrecedes(Self.numbers($1)) }.map { .string($0) }
        facts["sessions"] = sessions.map { .int($0.count) }
        facts["first_used"] = first ?? sessions.map { .string(BrazeTime.text($0.firstAt)) }
        facts["last_used"] = last ?? sessions.map { .string(BrazeTime.text($0.lastAt)) }
        return facts
    }

    /// `2.10` is higher than `2.9`.
    private static func numbers(_ version: String) -> [Int] {
        version.split(separator: ".").map { Int($0.prefix { $0.isASCII && $0.isNumber }) ?? 0 }
    }
}

/// The campaigns whose pushes a user was sent, as `campaigns_received` shows them: each once, the latest first.
struct ReceivedCampaigns {
    static let messageData = [BrazePayload.campaignKey, BrazePayload.variationKey]

    private let messages: [SentMessages]

    init(_ messages: [SentMessages]) { self.messages = messages }

    var all: [JSON] {
        let named = messages.compactMap { message in
            message.data[BrazePayload.campaignKey]?["api_id"]?.string.map { (id: $0, message: message) }
        }
        let byCampaign = Dictionary(grouping: named, by: \.id).mapValues { $0.map(\.message) }
        return byCampaign.compactMap { id, messages in
            messages.max { $0.lastAt < $1.lastAt }.map {
                (id: id, last: $0, isRead: messages.contains(where: \.isRead))
            }
        }.sorted { ($1.last.lastAt, $0.id) < ($0.last.lastAt, $1.id) }.map { id, last, isRead in
            var facts = JSONObject()
            facts["name"] = last.data[BrazePayload.campaignKey]?["name"]
            facts["last_received"] = .string(BrazeTime.text(last.lastAt))
            facts["engaged"] = ["opened_push": .bool(isRead)]
            facts["api_campaign_id"] = .string(id)
            facts["variation_api_id"] = last.data[BrazePayload.variationKey]
            return .object(facts)
        }
    }
}
