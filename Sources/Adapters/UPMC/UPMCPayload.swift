import ApplePayload
import FoundationEssentials
import Model

/// A message in the format that an app of this vendor expects, by the version it was built for. Source: docs/contracts/upmc.md#1.10.1.
struct UPMCPayload {
    private let notification: Notification
    private let target: TargetFacts
    private let settings: UPMCSettings
    private let message: ShownMessage

    private var content: Content { notification.content }

    init(_ notification: Notification, to target: TargetFacts, settings: UPMCSettings) {
        self.notification = notification
        self.target = target
        self.settings = settings
        let reader = ShownMessage.Reader(
            user: target.person.user,
            name: target.person.name,
            variables: target.variables
        )
        message = ShownMessage(notification: notification, reader: reader, settings: settings)
    }

    /// - Throws: `AdapterError(.tooLarge)` if it does not fit, `.invalid` if there is nothing to display.
    func encoded() throws(AdapterError) -> PushPayload {
        // Batches have a lower priority than other messages, because version 5.1 defines a priority for them.
        let isBatch = !content.isSilent && content.data[DataKey.isBatch]?.string == "Y"
        let type: PushType = content.isSilent ? .background : .alert
        do throws(PushFault) {
            if let raw = content.raw {
                return try RawPayload.push(JSONWriter.bytes(raw), type: type, priority: isBatch ? 5 : nil)
            }
            guard content.isSilent || !content.body.isEmpty || content.title != nil else {
                throw PushFault("MESSAGE", .missing)
            }
            guard let network = DeviceName.Network(target.key), network != .apns else {
                return try payload.push(type: type, priority: isBatch ? 5 : nil)
            }
            return try RawPayload.push(
                JSONWriter.bytes(try document(of: network)),
                type: type,
                priority: isBatch ? 5 : nil
            )
        } catch {
            throw AdapterError(error)
        }
    }

    /// Whether the payload fits with the longest number and keys that a target may have.
    static func fits(_ content: Content, _ settings: UPMCSettings) -> Bool {
        var notification = Notification(
            message: MessageID(TargetID.placeholder),
            origin: .upmc,
            content: content,
            sentAt: Timestamp(milliseconds: 0)
        )
        notification.numbers[.upmc] = "9223372036854775807"
        var target = TargetFacts(
            target: TargetID(TargetID.placeholder),
            identity: IdentityID(TargetID.placeholder),
            device: nil,
            app: "",
            vendor: .upmc,
            key: "APNS:",
            destination: PushDestination(
                platform: .ios,
                environment: .production,
                token: nil,
                tokenState: .none
            )
        )
        target.badge = content.badgeStep == nil ? nil : 1_000_000_000
        do throws(PushFault) {
            _ = try UPMCPayload(notification, to: target, settings: settings).payload.bytes(for: .alert)
            return true
        } catch {
            return !error.isTooLarge
        }
    }

    // MARK: The document

    /// The payload for devices that Apple's push service reaches.
    private var payload: APNsPayload { APNsPayload(aps(alert), custom: ["mps": .object(mps)]) }

    /// The document for devices on another network. It contains Apple's keys but is not an Apple payload, so Apple's rules do not apply to it.
    private func document(of network: DeviceName.Network) throws(PushFault) -> JSON {
        let isWeb = network == .web
        let aps = isWeb ? Aps(alert: .text(alertText)) : aps(.text(alertText))
        let limit = UPMCLimits.otherPayloadBytes
        var document = try APNsPayload(aps, custom: ["mps": .object(mps)]).document(for: .unknown(""), limit: limit)
        guard !isWeb else { return .object(document) }
        var inner = document[AppleKey.aps]?.object ?? JSONObject()
        inner[AppleKey.badge] = badge.map { .string(String($0)) }
        document[AppleKey.aps] = .object(inner)
        return .pairs(["message": .string(JSONWriter.text(.object(document))), "SEQNO": .string(number)])
    }

    private func aps(_ alert: Aps.Alert) -> Aps {
        guard !content.isSilent else { return Aps(isContentAvailable: true) }
        return Aps(
            alert: alert,
            badge: badge,
            sound: .named(content.sound ?? "default"),
            isContentMutable: settings.isMutable || content.media != nil
        )
    }

    /// The badge that the server counted, otherwise the caller's own number. Nil leaves the icon unchanged.
    private var badge: Int? { content.badgeStep == nil ? content.badge : target.badge }

    private var title: String? { message.title }
    private var body: String { message.body }

    private var style: UPMCSettings.AlertStyle {
        settings.alertStyle ?? (settings.version >= .v5 ? .dictionary : .string)
    }

    private var alert: Aps.Alert {
        guard let title else { return .text(body) }
        switch style {
        case .dictionary: return .detailed(AlertContent(title: .literal(title), body: .literal(body)))
        case .raw: return .text(message.source)
        case .string: return .text(body.isEmpty ? title : "\(title)\n\(body)")
        }
    }

    /// The alert as JSON text, for clients that parse it themselves (docs/contracts/upmc.md#1.10.2).
    private var alertText: String {
        guard let title else { return body }
        return JSONWriter.text(.pairs(["title": .string(title), "body": .string(body)]))
    }

    private var number: String { message.number }

    private var mps: JSONObject {
        let token = target.destination.token?.text ?? ""
        let user = target.person.user?.rawValue ?? AuthKey.guest
        let application = settings.applicationID
        let version = settings.version
        var mps = JSONObject([
            ("appid", .string(application)),
            ("seqno", .string(number)),
            ("sender", .string(message.sender)),
            ("ext", .string(message.extra)),
        ])
        if version >= .v36 { mps["senddate"] = .string(KoreanTime(notification.sentAt).sendDate) }
        if version <= .v36 { mps["messageuniquekey"] = .string(Digest.sha1(application, number, token)) }
        if version >= .v37 { mps["db_in"] = .string(content.data[DataKey.isStored]?.string ?? "N") }
        if version >= .v4EE { mps["pushkey"] = .string(Digest.sha1(application, user, token)) }
        return mps
    }
}

extension TargetID {
    /// Any id: the size of a payload does not depend on it.
    fileprivate static var placeholder: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}
