import ApplePayload
import Model

/// The object `apple_push`, and the payload made from it (docs/contracts/braze.md#6).
struct ApplePush {
    /// The payload without the reference, which differs for each target.
    private(set) var document = JSONObject()
    private(set) var isSilent = false
    private(set) var timeToLive = BrazeLimits.timeToLive
    private(set) var collapseID: String?
    /// Whether its texts are rendered for each target.
    private(set) var isTemplate = false
    /// The requested priority, and the caller's names.
    private(set) var data = JSONObject()

    private let push: JSONObject

    /// - Throws: `AdapterError` with the text of the answer.
    init(_ push: JSONObject, at now: Timestamp) throws(AdapterError) {
        self.push = push
        isTemplate = try Self.readTemplates(push)
        if let buttons = push["buttons"], buttons != .null, buttons != [] { throw BrazeText.later("buttons") }
        if push["send_to_most_recent_device_only"] == true { throw BrazeText.later("send_to_most_recent_device_only") }
        let alert = try alert()
        // Callers use both spellings.
        let flags = (try flag("content-available"), try flag("content_available"))
        let isAvailable = flags.0 ?? flags.1 ?? false
        guard alert != nil || isAvailable || push["badge"] != nil else {
            throw AdapterError(.invalid, field: BrazeText.nothing)
        }
        isSilent = alert == nil && isAvailable
        let aps = try aps(alert, isAvailable)
        var custom: JSONObject = [BrazePayload.attachmentKey: .object(try attachment())]
        try addLink(to: &custom)
        try addExtra(to: &custom)
        try readHeaders(now)
        // The size of a template's payload is known only after rendering.
        let limit = isTemplate ? LiquidLimits.sourceBytes : BrazeLimits.payloadBytes
        let type: PushType = isSilent ? .background : .alert
        do throws(PushFault) {
            document = try APNsPayload(aps, custom: custom).document(for: type, limit: limit)
        } catch {
            throw AdapterError(.invalid, field: error.isTooLarge ? BrazeText.pushTooLong : BrazeText.nothing)
        }
        guard BrazePayload.byteCount(of: document) <= limit else {
            throw AdapterError(.invalid, field: BrazeText.pushTooLong)
        }
    }

    // MARK: Templates

    /// Fields whose texts may be templates. The others control the delivery or have a fixed set of values.
    private static let rendered: Set<String> = [
        "alert", "sound", "category", "notification_group_thread_id", "custom_uri", "asset_url", "extra",
    ]

    /// Whether there are templates.
    private static func readTemplates(_ push: JSONObject) throws(AdapterError) -> Bool {
        var isTemplate = false
        for (field, value) in push.pairs {
            let found = try LiquidTexts.read(value, isRendered: rendered.contains(field))
            isTemplate = isTemplate || found
        }
        return isTemplate
    }

    // MARK: aps

    /// The vendor's names of Apple's keys.
    static let alertTexts: KeyValuePairs<String, String> = [
        "title": AppleKey.title, "body": AppleKey.body, "title_loc_key": AppleKey.titleLocKey,
        "loc_key": AppleKey.locKey, "action_loc_key": AppleKey.actionLocKey,
    ]
    static let alertArguments: KeyValuePairs<String, String> = [
        "title_loc_args": AppleKey.titleLocArguments, "loc_args": AppleKey.locArguments,
    ]

    /// Nil: there is nothing to display.
    private func alert() throws(AdapterError) -> Aps.Alert? {
        switch push["alert"] {
        case nil, .null?, ""?: return nil
        case .string(let text)?: return .text(text)
        case .object(let own)?:
            var alert = JSONObject()
            for (name, key) in Self.alertTexts {
                guard let value = own[name], value != .null else { continue }
                guard value.string != nil else { throw BrazeText.fault("alert.\(name)") }
                alert[key] = value
            }
            for (name, key) in Self.alertArguments {
                guard let value = own[name], value != .null else { continue }
                guard let list = value.array, list.allSatisfy({ $0.string != nil }) else {
                    throw BrazeText.fault("alert.\(name)")
                }
                alert[key] = value
            }
            return alert.isEmpty ? nil : .dictionary(alert)
        case .bool?, .number?, .array?: throw BrazeText.fault("alert")
        }
    }

    private func aps(_ alert: Aps.Alert?, _ isAvailable: Bool) throws(AdapterError) -> Aps {
        var aps = Aps(alert: alert, isContentAvailable: isAvailable)
        if let badge = push["badge"], badge != .null {
            guard let number = badge.int.flatMap({ Int(exactly: $0) }), number >= 0 else {
                throw BrazeText.fault("badge")
            }
            aps.badge = number
        }
        aps.sound = (try text("sound") ?? push["alert"]?["sound"]?.string).map { .named($0) }
        let isRich = try text("asset_url") != nil
        aps.isContentMutable = try flag("mutable_content") ?? false || isRich
        aps.category = try text("category")
        if let level = try text("interruption_level") {
            guard let known = Aps.InterruptionLevel(rawValue: level) else {
                throw BrazeText.fault("interruption_level")
            }
            aps.interruptionLevel = known
        }
        if let score = push["relevance_score"], score != .null {
            guard let value = score.double, (0...1).contains(value) else { throw BrazeText.fault("relevance_score") }
            aps.relevanceScore = value
        }
        aps.threadID = try text("notification_group_thread_id")
        // Apple: a background push contains only `content-available`, and only an alert can be changed by the app.
        if isSilent { return Aps(isContentAvailable: true) }
        if alert == nil { aps.isContentMutable = false }
        return aps
    }

    // MARK: Keys next to aps

    private static let fileTypes: Set<String> = ["aif", "gif", "jpg", "m4a", "mp3", "mp4", "png", "wav"]

    private func attachment() throws(AdapterError) -> JSONObject {
        guard let url = try text("asset_url") else { return JSONObject() }
        guard let type = try text("asset_file_type"), Self.fileTypes.contains(type) else {
            throw BrazeText.fault("asset_file_type")
        }
        return ["att": ["url": .string(url), "type": .string(type)]]
    }

    static let linkKey = "ab_uri"
    static let webKey = "ab_use_webview"

    private func addLink(to custom: inout JSONObject) throws(AdapterError) {
        guard let uri = try text("custom_uri") else { return }
        custom[Self.linkKey] = .string(uri)
        custom[Self.webKey] = .bool(try flag("use_webview") ?? true)
    }

    /// Adds the caller's own keys. `aps` and `ab` are reserved (docs/contracts/braze.md#6.1). Assumed: the keys of a link are reserved as well.
    private func addExtra(to custom: inout JSONObject) throws(AdapterError) {
        guard let value = push["extra"], value != .null else { return }
        guard let extra = value.object else { throw AdapterError(.invalid, field: BrazeText.extra) }
        for (key, value) in extra.pairs {
            guard key != AppleKey.aps, custom[key] == nil else { throw AdapterError(.invalid, field: BrazeText.extra) }
            custom[key] = value
        }
    }

    private mutating func readHeaders(_ now: Timestamp) throws(AdapterError) {
        if let id = try text("collapse_id") {
            guard id.utf8.count <= AppleLimits.collapseIDBytes else { throw BrazeText.fault("collapse_id") }
            collapseID = id
        }
        if let text = try text("expiry") {
            guard let end = BrazeTime.parse(text), end > now else { throw BrazeText.fault("expiry") }
            timeToLive = min(end - now, BrazeLimits.timeToLive)
        }
        if let priority = push["apns_priority"], priority != .null {
            guard let number = priority.int, (1...10).contains(number) else { throw BrazeText.fault("apns_priority") }
            // APNs accepts these values only; others are rounded to the nearest one (docs/contracts/braze.md#6.1).
            data[BrazePayload.priorityKey] = number > 5 ? 10 : 5
        }
        if let variation = try text("message_variation_id") {
            guard variation.utf8.count <= BrazeLimits.nameBytes else { throw BrazeText.fault("message_variation_id") }
            data[BrazePayload.variationKey] = .string(variation)
        }
    }

    // MARK: Values

    /// Nil if the field is absent, null or empty.
    private func text(_ field: String) throws(AdapterError) -> String? {
        guard let value = push[field], value != .null else { return nil }
        guard let text = value.string else { throw BrazeText.fault(field) }
        return text.isEmpty ? nil : text
    }

    private func flag(_ field: String) throws(AdapterError) -> Bool? {
        switch push[field] {
        case nil, .null?: return nil
        case .bool(let flag)?: return flag
        case .number("1")?: return true
        case .number("0")?: return false
        default: throw BrazeText.fault(field)
        }
    }
}
