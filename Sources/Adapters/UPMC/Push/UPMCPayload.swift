import FoundationEssentials
import Model

/// One message in the format that an app of this vendor expects, by the version it was built for. Source: docs/contracts/upmc.md#1.10.1.
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
        let reader = ShownMessage.Reader(user: target.user, name: target.name, variables: target.variables)
        message = ShownMessage(notification: notification, reader: reader, settings: settings)
    }

    /// - Throws: `AdapterError(.tooLarge)` when it does not fit, `.invalid` when there is nothing to show.
    func encoded() throws(AdapterError) -> PushPayload {
        if let raw = content.raw { return try push(JSONWriter.bytes(raw)) }
        guard content.isSilent || !content.body.isEmpty || content.title != nil else {
            throw AdapterError(.invalid, field: "MESSAGE")
        }
        return try push(JSONWriter.bytes(document))
    }

    private func push(_ bytes: [UInt8]) throws(AdapterError) -> PushPayload {
        guard bytes.count <= UPMCLimits.payloadBytes else { throw AdapterError(.tooLarge) }
        if content.isSilent { return PushPayload(bytes: bytes, type: .background, priority: 5) }
        // Batches yield to the rest, as 5.1 has a priority for them.
        let isBatch = content.data[DataKey.isBatch]?.string == "Y"
        return PushPayload(bytes: bytes, type: .alert, priority: isBatch ? 5 : 10)
    }

    /// The size with the longest number and keys that a target may have.
    static func largestSize(of content: Content, _ settings: UPMCSettings) -> Int {
        var notification = Notification(
            message: MessageID(TargetID.placeholder),
            origin: .upmc,
            content: content,
            sentAt: Timestamp(milliseconds: 0)
        )
        notification.numbers[.upmc] = "9223372036854775807"
        let target = TargetFacts(
            target: TargetID(TargetID.placeholder),
            identity: IdentityID(TargetID.placeholder),
            device: nil,
            app: "",
            vendor: .upmc,
            key: "APNS:",
            platform: .ios,
            environment: .production,
            token: nil,
            tokenState: .none,
            badge: content.badgeStep == nil ? nil : 1_000_000_000
        )
        return JSONWriter.bytes(UPMCPayload(notification, to: target, settings: settings).document).count
    }

    // MARK: The document

    private var document: JSON {
        let network = DeviceName.Network(target.key) ?? .apns
        switch network {
        case .apns: return .pairs(["aps": .object(aps(alert)), "mps": .object(mps)])
        case .web: return .pairs(["aps": .pairs(["alert": .string(alertText)]), "mps": .object(mps)])
        case .fcm, .gcm, .upns:
            var aps = aps(.string(alertText))
            aps["badge"] = badge.map { .string(String($0)) }
            let inner = JSON.pairs(["aps": .object(aps), "mps": .object(mps)])
            return .pairs(["message": .string(JSONWriter.text(inner)), "SEQNO": .string(number)])
        }
    }

    private func aps(_ alert: JSON) -> JSONObject {
        if content.isSilent { return JSONObject([("content-available", 1)]) }
        var aps = JSONObject([("alert", alert)])
        aps["badge"] = badge.map { .int($0) }
        aps["sound"] = .string(content.sound ?? "default")
        if settings.isMutable || content.media != nil { aps["mutable-content"] = 1 }
        return aps
    }

    /// What the server counted; else the caller's own number. Neither: the icon stays as it is.
    private var badge: Int? { content.badgeStep == nil ? content.badge : target.badge }

    private var title: String? { message.title }
    private var body: String { message.body }

    private var style: UPMCSettings.AlertStyle {
        settings.alertStyle ?? (settings.version >= .v5 ? .dictionary : .string)
    }

    private var alert: JSON {
        guard let title else { return .string(body) }
        switch style {
        case .dictionary: return .pairs(["title": .string(title), "body": .string(body)])
        case .raw: return .string(message.source)
        case .string: return .string(body.isEmpty ? title : "\(title)\n\(body)")
        }
    }

    /// As JSON text, for clients that parse it themselves (docs/contracts/upmc.md#1.10.2).
    private var alertText: String {
        guard let title else { return body }
        return JSONWriter.text(.pairs(["title": .string(title), "body": .string(body)]))
    }

    private var number: String { message.number }

    private var mps: JSONObject {
        let token = target.token?.text ?? ""
        let user = target.user?.rawValue ?? AuthKey.guest
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
    /// Any id: sizes do not depend on it.
    fileprivate static var placeholder: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}
