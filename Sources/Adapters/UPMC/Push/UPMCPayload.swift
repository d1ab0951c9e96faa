import FoundationEssentials
import Model

/// One message as an app of this vendor expects to receive it, by the version it was built for. Source: contract §1.10.1, and its Decisions.
struct UPMCPayload {
    private let notification: Notification
    private let target: TargetFacts
    private let settings: UPMCSettings

    private var content: Content { notification.content }

    init(_ notification: Notification, to target: TargetFacts, settings: UPMCSettings) {
        self.notification = notification
        self.target = target
        self.settings = settings
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

    private var title: String? { content.title.map(filled) }
    private var body: String { filled(content.body) }

    private var style: UPMCSettings.AlertStyle {
        settings.alertStyle ?? (settings.version >= .v5 ? .dictionary : .string)
    }

    private var alert: JSON {
        guard let title else { return .string(body) }
        switch style {
        case .dictionary: return .pairs(["title": .string(title), "body": .string(body)])
        case .raw: return .string(filled(content.data[DataKey.source]?.string ?? content.body))
        case .string: return .string(body.isEmpty ? title : "\(title)\n\(body)")
        }
    }

    /// As text, for readers that parse it themselves (contract §1.10.2).
    private var alertText: String {
        guard let title else { return body }
        return JSONWriter.text(.pairs(["title": .string(title), "body": .string(body)]))
    }

    /// A message of another dialect has no number: its id then names it, which receipts take too.
    private var number: String { notification.number(for: .upmc) }

    private var mps: JSONObject {
        let token = target.token?.text ?? ""
        let user = target.user?.rawValue ?? AuthKey.guest
        let application = settings.applicationID
        let version = settings.version
        var mps = JSONObject([
            ("appid", .string(application)),
            ("seqno", .string(number)),
            ("sender", .string(sender)),
            ("ext", .string(extra)),
        ])
        if version >= .v36 { mps["senddate"] = .string(KoreanTime(notification.sentAt).sendDate) }
        if version <= .v36 { mps["messageuniquekey"] = .string(Digest.sha1(application, number, token)) }
        if version >= .v37 { mps["db_in"] = .string(content.data[DataKey.isStored]?.string ?? "N") }
        if version >= .v4EE { mps["pushkey"] = .string(Digest.sha1(application, user, token)) }
        return mps
    }

    /// Who sent it; a message of another dialect comes from the operator.
    private var sender: String {
        content.data[DataKey.sender]?.string ?? (notification.origin == .upmc ? "" : "admin")
    }

    private var extra: String {
        if let page = content.page, let url = settings.publicURL { return "\(url)/r/\(page.id)/\(page.name)" }
        if let extra = content.data[DataKey.extra]?.string { return filled(extra) }
        guard notification.origin != .upmc, !content.data.isEmpty else { return "" }
        return JSONWriter.text(.object(content.data))
    }

    // MARK: Templates

    /// `%CUID%`, `%CNAME%` and `%VAR1%` to `%VAR10%` replaced by what this target has for them; nothing where it has none (contract §1.9.1, §1.9.3).
    private func filled(_ text: String) -> String {
        guard content.isTemplate, text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var out = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "%") {
            out += rest[..<start]
            let inner = rest[rest.index(after: start)...]
            // The longest name has six letters.
            guard let end = inner.prefix(7).firstIndex(of: "%"), let value = value(of: inner[..<end]) else {
                out.append("%")
                rest = inner
                continue
            }
            out += value
            rest = inner[inner.index(after: end)...]
        }
        return out + rest
    }

    /// Nil: no placeholder.
    private func value(of name: Substring) -> String? {
        switch name {
        case "CUID": return target.user?.rawValue ?? AuthKey.guest
        case "CNAME": return target.variables["CNAME"]?.string ?? target.name ?? ""
        default:  // any other name may be a numbered one
            guard name.hasPrefix("VAR"), let number = Int(name.dropFirst(3)), (1...10).contains(number) else {
                return nil
            }
            return target.variables[String(name)]?.string ?? ""
        }
    }
}

extension TargetID {
    /// Any id: sizes do not depend on it.
    fileprivate static var placeholder: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}
