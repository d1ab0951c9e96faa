import Model

/// A complete installation, as an app or a back end writes it (docs/contracts/notificationhubs.md#4).
struct Installation: Hashable {
    /// The supported platforms. The raw value is the vendor's spelling.
    enum Network: String, CaseIterable {
        case apns, gcm, fcmV1

        var platform: Platform { self == .apns ? .ios : .android }
    }

    let id: String
    private(set) var network: Network
    /// As received, because callers compare it with the value they sent.
    private(set) var channel: String
    private(set) var token: DeviceToken
    private(set) var user: String?
    private(set) var tags: [String] = []
    /// As received. After this time the installation does not exist (Assumed: as if it had been deleted).
    private(set) var expirationTime: String?
    private(set) var pushVariables = JSONObject()
    private(set) var templates = JSONObject()
    private(set) var secondaryTiles: JSON?
    private(set) var isChannelExpired = false

    /// Reads the installation `id` from a body.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    init(id: String, _ body: JSONObject) throws(AdapterError) {
        guard Self.isIdentifier(id) else { throw Self.fault("The installation id is not valid") }
        self.id = id
        if let named = try Self.text(body, "installationId"), named != id {
            throw Self.fault("The installation id in the body is not the one in the path")
        }
        guard let platform = try Self.text(body, "platform") else { throw AdapterError(.missing, field: "platform") }
        guard let network = Network.allCases.first(where: { $0.rawValue.lowercased() == platform.lowercased() }) else {
            throw Self.fault("The platform '\(platform.prefix(32))' is not available on this gateway")
        }
        guard let channel = try Self.text(body, "pushChannel") else {
            throw AdapterError(.missing, field: "pushChannel")
        }
        self.network = network
        self.channel = channel
        token = try Self.token(channel, network)
        user = try Self.text(body, "userId")
        if let user, !Self.isIdentifier(user) { throw Self.fault("The user id is not valid") }
        tags = try Self.tags(body["tags"])
        expirationTime = try Self.text(body, "expirationTime")
        if let expirationTime, HubTime.parse(expirationTime) == nil {
            throw Self.fault("The expiration time is not valid")
        }
        pushVariables = try Self.texts(body["pushVariables"], "pushVariables")
        templates = try Self.templates(body["templates"])
        guard Set(templateTags.flatMap(\.tags)).count <= HubsLimits.templateTagCount else {
            throw Self.fault("The templates may have at most \(HubsLimits.templateTagCount) tags")
        }
        secondaryTiles = body["secondaryTiles"].flatMap { $0 == .null ? nil : $0 }
    }

    /// The installation that is registered as `standing`; nil if none exists at `now`.
    init?(id: String, _ standing: IdentityStanding, at now: Timestamp) {
        guard standing.state == .active, let token = standing.token else { return nil }
        var body = standing.attributes
        let isUpper = body[Self.spellingKey] == "upper"
        body["pushChannel"] = .string(isUpper ? token.text.uppercased() : token.text)
        do throws(AdapterError) {
            try self.init(id: id, body)
        } catch {
            return nil
        }
        if let end, end <= now { return nil }
        isChannelExpired = standing.tokenState == .invalid || standing.tokenState == .quarantined
    }

    /// The expiration time, if it has one.
    private var end: Timestamp? { expirationTime.flatMap { HubTime.parse($0) } }

    // MARK: Addressing

    /// Whether sends can address it other than by its id: by a user, or by tags. A template's name is one of its tags.
    var hasAddress: Bool { user != nil || !tags.isEmpty || !templates.isEmpty }

    func hasAddress(of other: Installation) -> Bool {
        user == other.user && tags == other.tags && templates == other.templates
    }

    /// Takes over the user, tags and templates of the stored installation, for a caller that may not change them.
    ///
    /// - Throws: `AdapterError` if the pushes to these addresses would move to another token.
    mutating func keepAddress(of stored: Installation) throws(AdapterError) {
        guard stored.hasAddress else { return }
        guard token == stored.token, network == stored.network else { throw HubAccess.refusal }
        (user, tags, templates) = (stored.user, stored.tags, stored.templates)
    }

    // MARK: Storing

    /// The command that registers it. `client`: what the caller reports about itself. `expected`: the attributes that must still be stored.
    func command(
        _ settings: HubsSettings,
        _ access: HubAccess,
        client: ClientFacts,
        expected: JSONObject?
    ) -> Command {
        var registration = registration(settings.environment)
        registration.expected = expected
        registration.assurance = access.manages ? .vouched : .claimed
        registration.client = client
        return .registration(.enlist(registration, user.map { .set(UserID($0)) } ?? .clear))
    }

    /// Its stored form, without its user.
    func registration(_ environment: PushEnvironment?) -> DeviceRegistration {
        DeviceRegistration(
            key: VendorDeviceKey(id),
            platform: network.platform,
            environment: environment,
            token: token,
            attributes: attributes,
            tags: modelTags
        )
    }

    /// Its own tags, and the tags of its id and its user (docs/contracts/notificationhubs.md#5.6).
    private var modelTags: [Tag] {
        var system = ["$InstallationId:{\(id)}"]
        if let user { system.append("$UserId:{\(user)}") }
        let own = (tags + system).compactMap { Tag($0) } + [Tag(network.platform)]
        guard !templates.isEmpty else { return own }
        let theirs = Set(templateTags.flatMap(\.tags)).sorted { $0.text < $1.text }
        return own + [.hasVariants] + theirs.map { Tag.ofVariant($0) }
    }

    /// The tags of each template, including its name if the name is a valid tag (docs/contracts/notificationhubs.md#4.2).
    private var templateTags: [(name: String, tags: [Tag])] {
        templates.pairs.map { name, template in
            let named = (template["tags"]?.array ?? []).compactMap { $0.string.flatMap { Tag($0) } }
            return (name, named + [Tag(name)].compactMap { $0 }.filter { !$0.isSystem && !named.contains($0) })
        }
    }

    /// The stored attributes in addition to the model's own fields, without the channel: the device has it, and tokens are shown masked.
    private var attributes: JSONObject {
        var object: JSONObject = ["platform": .string(network.rawValue)]
        if network == .apns, channel != channel.lowercased() { object[Self.spellingKey] = "upper" }
        object["userId"] = user.map { .string($0) }
        if !tags.isEmpty { object["tags"] = .array(tags.map { .string($0) }) }
        object["expirationTime"] = expirationTime.map { .string($0) }
        object[DeviceRegistration.endAttribute] = end.map { .int(max(0, $0.seconds)) }
        if !pushVariables.isEmpty { object["pushVariables"] = .object(pushVariables) }
        if !templates.isEmpty {
            object["templates"] = .object(templates)
            let tags = templateTags.map { ($0.name, JSON.array($0.tags.map { .string($0.text) })) }
            object[Variants.attribute] = .object(JSONObject(tags))
        }
        object["secondaryTiles"] = secondaryTiles
        return object
    }

    /// The key of the spelling of a token. Assumed: a token with any capital letter is shown in capitals.
    private static let spellingKey = "spelling"

    /// In the format of a body, so that a patch can change it.
    var body: JSONObject {
        var object = attributes
        object[Self.spellingKey] = nil
        object[Variants.attribute] = nil
        object[DeviceRegistration.endAttribute] = nil
        object["pushChannel"] = .string(channel)
        return object
    }

    /// The installation as an answer shows it (docs/contracts/notificationhubs.md#4.2).
    func document(showsToken: Bool = true) -> String {
        let shown = showsToken ? channel : Self.masked(channel)
        var object: JSONObject = ["installationId": .string(id), "pushChannel": .string(shown)]
        object["pushChannelExpired"] = .bool(isChannelExpired)
        object["platform"] = .string(network.rawValue)
        object["userId"] = user.map { .string($0) }
        object["expirationTime"] = .string(expirationTime ?? Self.never)
        if !tags.isEmpty { object["tags"] = .array(tags.map { .string($0) }) }
        if !pushVariables.isEmpty { object["pushVariables"] = .object(pushVariables) }
        if !templates.isEmpty { object["templates"] = .object(shownTemplates) }
        object["secondaryTiles"] = secondaryTiles
        return JSONWriter.text(.object(object))
    }

    /// Zeros instead of a token, so that a client reads a text of the usual form. Assumed: it does not write this text back.
    static func masked(_ channel: String) -> String { String(repeating: "0", count: channel.count) }

    private static let never = "9999-12-31T23:59:59.9999999Z"

    /// Each template has its own name among its tags (docs/contracts/notificationhubs.md#4.2).
    var shownTemplates: JSONObject {
        JSONObject(
            templates.pairs.map { name, template in
                var object = template.object ?? JSONObject()
                let tags = object["tags"]?.array ?? []
                if !tags.contains(.string(name)) { object["tags"] = .array(tags + [.string(name)]) }
                return (name, .object(object))
            }
        )
    }

    // MARK: Reading

    private static func fault(_ text: String) -> AdapterError { AdapterError(.invalid, field: text) }

    /// docs/contracts/notificationhubs.md#4: letters, digits and a few punctuation marks.
    static func isIdentifier(_ text: String) -> Bool {
        (1...HubsLimits.identifierCharacters).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "-_@#.:=".utf8.contains(byte)
                }
            }
    }

    /// A text; nil if it is absent, null or empty.
    private static func text(_ body: JSONObject, _ key: String) throws(AdapterError) -> String? {
        guard let value = body[key], value != .null else { return nil }
        guard let text = value.string else { throw fault("The value of \(key) is not a string") }
        return text.isEmpty ? nil : text
    }

    /// The error texts are those of the vendor's SDK (docs/contracts/notificationhubs.md#4.1).
    static func token(_ channel: String, _ network: Network) throws(AdapterError) -> DeviceToken {
        guard channel.isEmpty || channel.contains(where: { $0 != "0" }) else {
            throw fault("The push channel is masked")
        }
        guard network == .apns else {
            guard let token = DeviceToken(fcm: channel) else { throw fault("The push channel is not valid") }
            return token
        }
        if let token = DeviceToken(apns: channel) { return token }
        guard channel.utf8.allSatisfy({ HexCoding.value(of: $0) != nil }) else {
            throw fault("One or more characters in device token is not a hexadecimal digit")
        }
        throw fault("Device token is either empty OR it has odd number of nibbles")
    }

    private static func tags(_ value: JSON?) throws(AdapterError) -> [String] {
        guard let value, value != .null else { return [] }
        guard let list = value.array else { throw fault("The tags are not an array") }
        guard list.count <= HubsLimits.tagCount else {
            throw fault("There may be at most \(HubsLimits.tagCount) tags")
        }
        var seen: Set<Tag> = []
        var tags: [String] = []
        for element in list {
            // Callers cannot set the tags that the gateway sets (docs/contracts/notificationhubs.md#5).
            if element.string?.hasPrefix("$") == true { throw fault("Tags can not start with $") }
            guard let text = element.string, let tag = Tag(text) else {
                throw fault("The tag '\((element.lenientString ?? "").prefix(64))' is not valid")
            }
            if seen.insert(tag).inserted { tags.append(text) }
        }
        return tags
    }

    private static func texts(_ value: JSON?, _ name: String) throws(AdapterError) -> JSONObject {
        guard let value, value != .null else { return JSONObject() }
        guard let object = value.object, object.pairs.allSatisfy({ $0.value.string != nil }) else {
            throw fault("The value of \(name) is not an object of strings")
        }
        return object
    }

    /// Assumed: a template's body is checked when it is filled; an invalid one is counted as `InvalidNotificationFormat`.
    private static func templates(_ value: JSON?) throws(AdapterError) -> JSONObject {
        guard let value, value != .null else { return JSONObject() }
        guard let object = value.object else { throw fault("The templates are not an object") }
        guard object.count <= HubsLimits.templateCount else {
            throw fault("There may be at most \(HubsLimits.templateCount) templates")
        }
        var templates = JSONObject()
        for (name, value) in object.pairs {
            guard !name.isEmpty, name.count <= HubsLimits.templateNameCharacters else {
                throw fault("The name of a template is not valid")
            }
            templates[name] = .object(try template(value, name))
        }
        return templates
    }

    private static func template(_ value: JSON, _ name: String) throws(AdapterError) -> JSONObject {
        guard let object = value.object, let body = object["body"]?.string, !body.isEmpty else {
            throw fault("The template '\(name.prefix(64))' has no body")
        }
        var template: JSONObject = ["body": .string(body)]
        let headers = try texts(object["headers"], "headers")
        if !headers.isEmpty { template["headers"] = .object(headers) }
        template["expiry"] = try text(object, "expiry").map { .string($0) }
        let tags = try tags(object["tags"])
        if !tags.isEmpty { template["tags"] = .array(tags.map { .string($0) }) }
        return template
    }
}
