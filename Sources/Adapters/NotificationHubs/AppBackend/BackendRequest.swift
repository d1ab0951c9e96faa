import ApplePayload
import HTTPTypes
import Model

/// The calls of the tutorial's back end (docs/contracts/notificationhubs.md#10.2). Devices are registrations of the hub, so that its own sends reach them too.
struct BackendRequest {
    let path: BackendPath
    let request: VendorRequest
    let settings: HubsSettings

    /// - Throws: `AdapterError` with the text of the answer.
    func commands() throws(AdapterError) -> [Command] {
        let user = try user()
        switch (path.call, request.method) {
        case (.register, _):
            guard let handle = try handle() else { return [.registration(.drawKey)] }
            return [Self.registrations(of: handle)]
        case (.registration(let id), .put):
            _ = try registration(id, user)
            return [.registration(.standing(key: Registration.key(id)))]
        case (.registration(let id), _):
            guard Installation.isIdentifier(id) else { throw Self.fault("The registration id is not valid") }
            return [.registration(.standing(key: Registration.key(id)))]
        case (.notifications, _):
            if let push = try push(user) { return [.submission(.submit(push))] }
            return [.submission(.submit(try richPush(user)))]
        case (.notification(let text), _):
            guard let id = Int32(text), id >= 0 else { throw Self.fault("The id is not a number") }
            return [.media(.image(number: RichPush.number(of: Int(id)), owner: user.owner))]
        case (.unknown, _): throw AdapterError(.notFound)
        }
    }

    /// Writes the data that was read; starts again if another call changed it in the meantime.
    ///
    /// - Throws: `AdapterError` for a body that `commands` would refuse.
    func sequel(to replies: [Reply]) throws(AdapterError) -> [Command] {
        switch (path.call, replies.last) {
        case (.register, .registration(.listed(let found))) where replies.count == 1:
            let ids = Self.ids(found, of: try user())
            guard let handle = try handle(), !ids.isEmpty else { return [.registration(.drawKey)] }
            // One registration of a device is reused and the others are removed; then the list is read again.
            let others = ids.dropFirst().prefix(HubsLimits.pageCount)
            return others.isEmpty ? [] : others.flatMap(removal) + [Self.registrations(of: handle)]
        case (.registration(let id), .registration(.standing(let standing))) where replies.count == 1:
            guard Self.belongs(standing, to: try user()) else { return [] }
            let known = RegistrationRequest(id: id, request: request, settings: settings)
            guard case .write(let etag, let expected) = known.verdict(on: standing) else { return [] }
            guard request.method == .put else { return removal(id, expected ?? JSONObject()) }
            var registration = try registration(id, try user())
            registration.etag = etag
            return [registration.command(settings, expected: expected)]
        case (.registration(let id), .refused(.outdated)): return [.registration(.standing(key: Registration.key(id)))]
        default: return []  // finished, or refused permanently
        }
    }

    /// The ids of a user's registrations in the list of a channel, the oldest first, so that a repeated call finds the same one.
    static func ids(_ found: [ListedIdentity], of user: BackendUser) -> [String] {
        found.filter { $0.standing.state == .active && belongs($0.standing, to: user) }
            .compactMap { Registration.id($0.key) }.sorted()
    }

    /// Whether the user may change a registration: a new one, or one that this user made. The gateway alone sets the tag that names the user.
    static func belongs(_ standing: IdentityStanding?, to user: BackendUser) -> Bool {
        guard let standing, standing.state == .active else { return true }
        let owner = Tag(user.tag)
        return (standing.attributes["tags"]?.array ?? []).contains { $0.string.flatMap { Tag($0) } == owner }
    }

    private static func registrations(of handle: DeviceToken) -> Command {
        .registration(.listed(.token(handle), from: nil, limit: HubsLimits.pageCount))
    }

    private func removal(_ id: String) -> [Command] { removal(id, JSONObject()) }

    private func removal(_ id: String, _ expected: JSONObject) -> [Command] {
        let unregister = Command.registration(.unregister(.key(Registration.key(id))))
        guard !expected.isEmpty else { return [unregister] }
        return [Registration.tombstone(id, at: request.receivedAt, expected: expected), unregister]
    }

    private static func fault(_ text: String) -> AdapterError { AdapterError(.invalid, field: text) }

    func user() throws(AdapterError) -> BackendUser { try BackendUser(request, settings: settings) }

    /// Nil: the call requests an id without naming a device.
    private func handle() throws(AdapterError) -> DeviceToken? {
        guard let text = request.parameter("handle"), !text.isEmpty else { return nil }
        return try Installation.token(text, .apns)
    }

    // MARK: Bodies

    /// Names are compared without case, as in ASP.NET.
    private func field(_ name: String, of body: JSONObject) -> JSON? {
        body.pairs.first { $0.key.lowercased() == name }?.value
    }

    private func registration(_ id: String, _ user: BackendUser) throws(AdapterError) -> Registration {
        guard Installation.isIdentifier(id) else { throw Self.fault("The registration id is not valid") }
        guard let body = (try? JSONParser.parse(request.body))?.object else { throw AdapterError(.unreadable) }
        guard let platform = field("platform", of: body)?.string?.lowercased() else {
            throw AdapterError(.missing, field: "Platform")
        }
        guard platform == "apns" else { throw Self.fault("The platform is not available on this gateway") }
        guard let handle = field("handle", of: body)?.string else { throw AdapterError(.missing, field: "Handle") }
        var registration = Registration(
            id: id,
            channel: handle,
            token: try Installation.token(handle, .apns),
            updatedAt: request.receivedAt
        )
        registration.tags = try tags(field("tags", of: body)) + [user.tag]
        return registration
    }

    private func tags(_ value: JSON?) throws(AdapterError) -> [String] {
        guard let value, value != .null else { return [] }
        guard let list = value.array, list.count < HubsLimits.tagCount else { throw Self.fault("Tags is not valid") }
        var tags: [String] = []
        for element in list {
            guard let text = element.string, Tag(text) != nil else { throw Self.fault("A tag is not valid") }
            // A device cannot choose the user whose pushes it receives (docs/contracts/notificationhubs.md#10.2).
            if !text.lowercased().hasPrefix(BackendUser.tagPrefix) { tags.append(text) }
        }
        return tags
    }

    // MARK: Pushes

    /// The text push of the first tutorial: `?pns=apns&to_tag=mina` with a JSON string. Nil: the call requests a rich push.
    private func push(_ user: BackendUser) throws(AdapterError) -> Submission? {
        guard let service = request.parameter("pns") ?? request.parameter("to_tag") else { return nil }
        guard request.parameter("pns") == nil || service.lowercased() == "apns" else {
            throw Self.fault("The pns is not available on this gateway")
        }
        guard let name = request.parameter("to_tag"), BackendSettings.isName(name) else {
            throw Self.fault("The to_tag is not valid")
        }
        guard let text = (try? JSONParser.parse(request.body))?.string else {
            throw AdapterError(.unreadable, field: "The message is not a JSON string")
        }
        let payload: JSONObject
        do throws(PushFault) {
            payload = try APNsPayload(Aps(alert: .text("From \(user.name): \(text)"))).document(for: .alert)
        } catch {
            throw AdapterError(.invalid, field: HubText.payloadTooLarge)
        }
        return Submission(
            content: Content(raw: .object(payload)),
            audience: .tags(try audience("\(BackendUser.tag(name)) || from:\(user.name)")),
            timing: SubmissionTiming(timeToLive: HubsLimits.timeToLive)
        )
    }

    /// The silent push of the second tutorial, to all devices of the caller. The body may name another image, text or type (an addition of the gateway).
    private func richPush(_ user: BackendUser) throws(AdapterError) -> Submission {
        var body = JSONObject()
        if !request.body.isEmpty {
            guard let json = (try? JSONParser.parse(request.body)) else { throw AdapterError(.unreadable) }
            body = json.object ?? JSONObject()
        }
        let backend = settings.backend
        guard let image = field("image", of: body)?.string ?? backend.image else {
            throw Self.fault("No image: name one in the body, or in the binding")
        }
        let message = field("message", of: body)?.string ?? backend.message
        // The app shows the text once it has the image. As the body, it is what the gateway shows for the message, and what a search finds.
        var content = Content(body: message, isSilent: true)
        content.data = RichPush.data(
            message: message,
            type: field("type", of: body)?.string ?? "img",
            owner: user.owner
        )
        content.media = MediaReference(id: "", hash: image.lowercased())
        return Submission(
            content: content,
            audience: .tags(try audience(user.tag)),
            timing: SubmissionTiming(timeToLive: HubsLimits.timeToLive),
            numbering: Numbering()
        )
    }

    private func audience(_ expression: String) throws(AdapterError) -> TagExpression {
        do throws(TagExpression.Fault) {
            return try TagExpression(expression).narrowed(to: Tag(Platform.ios)).excluding(.onlyVariants)
        } catch {
            throw Self.fault("The to_tag is not valid")
        }
    }
}

/// The push that makes the app fetch the image: `richId`, `richMessage`, `richType` (docs/contracts/notificationhubs.md#7.1,
/// docs/contracts/notificationhubs.md#10.3).
enum RichPush {
    private static let messageKey = "richMessage"
    private static let typeKey = "richType"

    static func data(message: String, type: String, owner: String) -> JSONObject {
        [messageKey: .string(message), typeKey: .string(type), MediaCommand.ownerKey: .string(owner)]
    }

    /// Ids count from 0, the gateway's numbers from 1.
    static func number(of id: Int) -> String { "\(id + 1)" }

    static func id(of number: String) -> Int? { Int(number).map { $0 - 1 } }

    /// Nil: it is a push of another kind.
    static func payload(_ notification: Notification) -> APNsPayload? {
        let content = notification.content
        guard content.media != nil, let message = content.data[messageKey], let type = content.data[typeKey],
            let id = id(of: notification.number(for: .notificationHubs))
        else { return nil }
        // The empty sound is the tutorial's.
        return APNsPayload(
            Aps(sound: .named(""), isContentAvailable: true),
            custom: ["richId": .string("\(id)"), messageKey: message, typeKey: type]
        )
    }
}
