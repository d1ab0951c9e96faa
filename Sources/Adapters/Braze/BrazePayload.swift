import FoundationEssentials
import Model

/// A push of this vendor: Apple's keys, the caller's, and `ab`, by which the vendor's SDK recognises it (docs/contracts/braze.md#6).
struct BrazePayload {
    private let notification: Notification
    private let target: TargetFacts

    /// The key of a content's data with the priority that its caller wants.
    static let priorityKey = "priority"

    /// The keys of a content's data with what its caller calls the send and the campaign, and what he says to everybody.
    static let sendKey = "send"
    static let campaignKey = "campaign"
    static let variationKey = "variation"
    static let propertiesKey = "properties"

    init(_ notification: Notification, to target: TargetFacts) {
        self.notification = notification
        self.target = target
    }

    /// How long a payload becomes with its reference.
    static func byteCount(of document: JSONObject) -> Int {
        JSONWriter.bytes(.object(referenced(document, String(repeating: "c", count: 43)))).count
    }

    /// Message and target, 32 bytes or 43 characters of base64url, so that an open finds its delivery without another index (docs/contracts/braze.md#3.3).
    static func reference(_ message: MessageID, _ target: TargetID) -> String {
        Data(message.rawValue.bytes + target.rawValue.bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func referenced(_ document: JSONObject, _ reference: String) -> JSONObject {
        var own: JSONObject = ["c": .string(reference)]
        for (key, value) in document["ab"]?.object?.pairs ?? [] { own[key] = value }
        var document = document
        document["ab"] = .object(own)
        return document
    }

    /// - Throws: `AdapterError(.tooLarge)`.
    func encoded() throws(AdapterError) -> PushPayload {
        let content = notification.content
        // Of another dialect, and demanded unchanged.
        if let raw = content.raw, notification.origin != .braze { return try push(JSONWriter.bytes(raw), nil) }
        let isOwn = notification.origin == .braze
        if isOwn, let filter = content.data[AudienceFilter.key] { try check(filter) }
        var own = content.raw?.object ?? self.document
        if isOwn, content.isTemplate { own = try rendered(own) }
        let document = Self.referenced(own, Self.reference(notification.message, target.target))
        let priority = isOwn ? content.data[Self.priorityKey]?.int : nil
        return try push(JSONWriter.bytes(.object(document)), priority.map { Int(clamping: $0) })
    }

    /// - Throws: `AdapterError(.withheld)` for whom the filter does not mean.
    private func check(_ filter: JSON) throws(AdapterError) {
        let filter = try AudienceFilter(stored: filter)
        guard filter.means(target.attributes, acceptsPush: target.acceptsPush, at: notification.sentAt) else {
            throw AdapterError(.withheld, field: "payload")
        }
    }

    /// The texts as this target reads them.
    ///
    /// - Throws: `AdapterError(.withheld)` where they say that it gets nothing, `.tooLarge`.
    private func rendered(_ document: JSONObject) throws(AdapterError) -> JSONObject {
        let data = notification.content.data
        var campaign = data[Self.campaignKey]?.object ?? JSONObject()
        campaign["dispatch_id"] = .string(HexCoding.encode(notification.message.rawValue.bytes))
        var scope = LiquidScope(attributes: target.attributes, campaign: campaign, now: notification.sentAt)
        scope.attributes["user_id"] = target.user.map { .string($0.rawValue) }
        scope.properties = data[Self.propertiesKey]?.object ?? JSONObject()
        for (name, value) in target.variables.pairs { scope.properties[name] = value }
        var renderer = LiquidRenderer(scope)
        do throws(LiquidProblem) {
            return try renderer.rendered(document)
        } catch {
            throw AdapterError(error == .aborted ? .withheld : .tooLarge, field: "payload")
        }
    }

    private func push(_ bytes: [UInt8], _ priority: Int?) throws(AdapterError) -> PushPayload {
        guard bytes.count <= BrazeLimits.otherPayloadBytes else { throw AdapterError(.tooLarge, field: "payload") }
        let isSilent = notification.content.isSilent
        return PushPayload(
            bytes: bytes,
            type: isSilent ? .background : .alert,
            // A background push must not be urgent (Apple, "Sending notification requests to APNs").
            priority: isSilent ? 5 : priority ?? 10,
            collapseID: notification.collapseID
        )
    }

    /// The payload of a message by the native API.
    private var document: JSONObject {
        let content = notification.content
        var aps = JSONObject()
        if content.isSilent {
            aps["content-available"] = 1
        } else {
            var alert = JSONObject()
            alert["title"] = content.title.map { .string($0) }
            alert["subtitle"] = content.subtitle.map { .string($0) }
            alert["body"] = .string(content.body)
            aps["alert"] = .object(alert)
            aps["badge"] = content.badge.map { .int($0) }
            aps["sound"] = .string(content.sound ?? "default")
            aps["category"] = content.category.map { .string($0) }
            aps["thread-id"] = content.threadID.map { .string($0) }
            if content.isUrgent { aps["interruption-level"] = "time-sensitive" }
        }
        var document: JSONObject = ["aps": .object(aps), "ab": [:]]
        for (key, value) in content.data.pairs where document[key] == nil { document[key] = value }
        return document
    }
}
