import Model

/// A registration of an Apple device, native or by template (docs/contracts/notificationhubs.md#5).
struct Registration: Hashable {
    /// The template of a registration.
    struct Template: Hashable {
        /// Nil if the registration gives it no name.
        var name: String?
        var body: String
        var expiry: String?
        var priority: String?
        /// By name, as received.
        var headers = JSONObject()

        /// The name of its only variant.
        var variant: String { name ?? "$Default" }
    }

    let id: String
    /// As received: clients search for it in capitals.
    var channel: String
    var token: DeviceToken
    var tags: [String] = []
    var template: Template?
    var pushVariables = JSONObject()
    /// Starts at 1 and increases with every write.
    var etag = 1
    var updatedAt: Timestamp

    /// Separates these keys from those of installations.
    private static let keyPrefix = "r/"

    static func key(_ id: String) -> VendorDeviceKey { VendorDeviceKey(keyPrefix + id) }

    /// The id of the registration with this key; nil: the key is not a registration's.
    static func id(_ key: VendorDeviceKey) -> String? {
        key.rawValue.hasPrefix(keyPrefix) ? String(key.rawValue.dropFirst(keyPrefix.count)) : nil
    }

    /// An id in the vendor's format, made from 32 hex digits: two large decimals and the number of a shard. The last 32 bits of the second decimal are a digest of all
    /// others, by which an id of the gateway is recognized.
    static func id(drawn digits: String) -> String {
        let halves = [digits.prefix(16), digits.dropFirst(16).prefix(16)].map { (UInt64($0, radix: 16) ?? 0) >> 1 }
        let head = halves[1] >> 32
        return "\(halves[0])-\((head << 32) | mark(of: halves[0], head))-1"
    }

    /// Whether the gateway has drawn the id, and not the vendor. The ids of versions before this mark are not recognized.
    static func isDrawn(_ id: String) -> Bool {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2] == "1", let first = UInt64(parts[0]), let second = UInt64(parts[1]) else {
            return false
        }
        return second & 0xFFFF_FFFF == mark(of: first, second >> 32)
    }

    private static func mark(of first: UInt64, _ head: UInt64) -> UInt64 {
        let digest = TrackingID.digest(["registration", "\(first)", "\(head)"])
        return digest.prefix(4).reduce(UInt64(0)) { ($0 << 8) | UInt64($1) }
    }

    init(id: String, channel: String, token: DeviceToken, updatedAt: Timestamp) {
        self.id = id
        self.channel = channel
        self.token = token
        self.updatedAt = updatedAt
    }

    // MARK: Storing

    /// The command that registers it. `expected`: the attributes that must still be stored.
    func command(_ settings: HubsSettings, expected: JSONObject?) -> Command {
        var registration = registration(settings.environment)
        registration.expected = expected
        return .registration(.register(registration))
    }

    /// Its stored form.
    func registration(_ environment: PushEnvironment?) -> DeviceRegistration {
        DeviceRegistration(
            key: Self.key(id),
            platform: .ios,
            environment: environment,
            token: token,
            attributes: attributes,
            tags: modelTags
        )
    }

    /// Its own tags, and those by which sends find it. A template registration is reached only by template sends.
    private var modelTags: [Tag] {
        let own = tags.compactMap { Tag($0) } + [Tag(Platform.ios)]
        return template == nil ? own : own + [.hasVariants, .onlyVariants]
    }

    private var attributes: JSONObject {
        var object: JSONObject = ["etag": .int(etag), "updatedAt": .int(updatedAt.milliseconds)]
        object[DeviceRegistration.sharingAttribute] = true
        if channel != channel.lowercased() { object["spelling"] = "upper" }
        if !tags.isEmpty { object["tags"] = .array(tags.map { .string($0) }) }
        if !pushVariables.isEmpty { object["pushVariables"] = .object(pushVariables) }
        guard let template else { return object }
        var stored: JSONObject = ["body": .string(template.body)]
        stored["expiry"] = template.expiry.map { .string($0) }
        stored["priority"] = template.priority.map { .string($0) }
        if !template.headers.isEmpty { stored["headers"] = .object(template.headers) }
        object["templateName"] = template.name.map { .string($0) }
        object["templates"] = .object(JSONObject([(template.variant, .object(stored))]))
        object[Variants.attribute] = .object(JSONObject([(template.variant, .array([]))]))
        return object
    }

    /// The command that marks a registration as deleted.
    static func tombstone(_ id: String, at time: Timestamp, expected: JSONObject) -> Command {
        var attributes: JSONObject = ["removedAt": .int(time.milliseconds)]
        attributes[DeviceRegistration.sharingAttribute] = true
        var registration = DeviceRegistration(key: key(id), platform: .ios, attributes: attributes)
        registration.expected = expected
        return .registration(.register(registration))
    }

    /// The registration that is stored as `standing`; nil if none exists now. A registration with a dead token is deleted
    /// (docs/contracts/notificationhubs.md#11.7).
    init?(id: String, _ standing: IdentityStanding) {
        let stored = standing.attributes
        guard standing.state == .active, standing.tokenState == .active, let token = standing.token,
            let etag = Self.etag(standing)
        else { return nil }
        self.init(
            id: id,
            channel: stored["spelling"] == "upper" ? token.text.uppercased() : token.text,
            token: token,
            updatedAt: Timestamp(milliseconds: stored["updatedAt"]?.int ?? 0)
        )
        self.etag = etag
        tags = (stored["tags"]?.array ?? []).compactMap(\.string)
        pushVariables = stored["pushVariables"]?.object ?? JSONObject()
        guard let template = stored["templates"]?.object?.pairs.first?.value, let body = template["body"]?.string else {
            return
        }
        self.template = Template(
            name: stored["templateName"]?.string,
            body: body,
            expiry: template["expiry"]?.string,
            priority: template["priority"]?.string,
            headers: template["headers"]?.object ?? JSONObject()
        )
    }

    /// Nil: the registration does not exist.
    static func etag(_ standing: IdentityStanding) -> Int? {
        guard standing.state == .active else { return nil }
        return standing.attributes["etag"]?.int.flatMap { Int(exactly: $0) }
    }

    // MARK: Installations in lists

    /// The list entries of an installation: one native registration and one per template (docs/contracts/notificationhubs.md#5.6). Assumed: their ids
    /// appear in lists only.
    static func all(of installation: Installation, updatedAt: Timestamp) -> [Registration] {
        guard installation.network == .apns else { return [] }
        var system = ["$InstallationId:{\(installation.id)}"]
        if let user = installation.user { system.append("$UserId:{\(user)}") }
        func one(_ part: String) -> Registration {
            Registration(
                id: id(drawn: HexCoding.encode(TrackingID.digest([installation.id, part]))),
                channel: installation.channel,
                token: installation.token,
                updatedAt: updatedAt
            )
        }
        var native = one("")
        native.tags = installation.tags + system
        native.pushVariables = installation.pushVariables
        let filled = installation.shownTemplates.pairs.map { name, template in
            var filled = one("t/" + name)
            filled.tags = (template["tags"]?.array ?? []).compactMap(\.string) + system
            filled.pushVariables = installation.pushVariables
            filled.template = Template(
                name: name,
                body: template["body"]?.string ?? "",
                expiry: template["expiry"]?.string,
                headers: template["headers"]?.object ?? JSONObject()
            )
            return filled
        }
        return [native] + filled
    }
}
