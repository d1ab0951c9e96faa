import ApplePayload
import FoundationEssentials
import Model

/// A push of this vendor: Apple's keys, the caller's keys, and `ab`, by which the vendor's SDK recognises the push (docs/contracts/braze.md#6).
struct BrazePayload {
    private let notification: Notification
    private let target: TargetFacts

    /// The key, in a content's data, of the priority that the caller requests.
    static let priorityKey = "priority"

    /// The keys, in a content's data, of the caller's names for the send and the campaign, and of the properties for all recipients.
    static let sendKey = "send"
    static let campaignKey = "campaign"
    static let variationKey = "variation"
    static let propertiesKey = "properties"
    /// The key, in a content's data, of a message that a trigger of its campaign made.
    static let triggerKey = "trigger"
    /// The key, in a content's data, of the caller's `android_push`, which only the vendor can send.
    static let androidKey = "android"

    init(_ notification: Notification, to target: TargetFacts) {
        self.notification = notification
        self.target = target
    }

    /// The size of a payload including its reference.
    static func byteCount(of document: JSONObject) -> Int {
        JSONWriter.bytes(.object(referenced(document, String(repeating: "c", count: 43)))).count
    }

    /// Encodes message and target as 43 characters of base64url (32 bytes), so that an open report finds its delivery without another index
    /// (docs/contracts/braze.md#3.3).
    static func reference(_ message: MessageID, _ target: TargetID) -> String {
        Data(message.rawValue.bytes + target.rawValue.bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The top-level key, next to `aps`, that this vendor's SDK reads.
    static let attachmentKey = "ab"

    private static func referenced(_ document: JSONObject, _ reference: String) -> JSONObject {
        var own: JSONObject = ["c": .string(reference)]
        for (key, value) in document[attachmentKey]?.object?.pairs ?? [] { own[key] = value }
        var document = document
        document[attachmentKey] = .object(own)
        return document
    }

    /// - Throws: `AdapterError(.tooLarge)`.
    func encoded() throws(AdapterError) -> PushPayload {
        let content = notification.content
        guard notification.origin == .braze else { return try encodedForeign() }
        let document = try document()
        let priority = content.data[Self.priorityKey]?.int.map { Int(clamping: $0) }
        // A background push must not be urgent (Apple, "Sending notification requests to APNs").
        return try forwarded(.object(Self.referenced(document, reference)), content.isSilent ? nil : priority)
    }

    /// The stored payload for this target, without its reference.
    ///
    /// - Throws: `AdapterError(.withheld)` if the message excludes the target, `.tooLarge`.
    func document() throws(AdapterError) -> JSONObject {
        let content = notification.content
        if let filter = content.data[AudienceFilter.key] { try check(filter) }
        let document = content.raw?.object ?? JSONObject()
        return content.isTemplate ? try rendered(document) : document
    }

    /// The push of a message of another vendor, with the reference that this vendor's SDK needs.
    private func encodedForeign() throws(AdapterError) -> PushPayload {
        let content = notification.content
        if let raw = content.raw { return try forwarded(raw, nil) }
        var custom: JSONObject = [Self.attachmentKey: ["c": .string(reference)]]
        for (key, value) in content.data.besideAps.pairs where custom[key] == nil { custom[key] = value }
        do throws(PushFault) {
            return try APNsPayload(Aps(content), custom: custom).push(type: type, collapseID: notification.collapseID)
        } catch {
            throw AdapterError(error, payload: "payload")
        }
    }

    private var reference: String { Self.reference(notification.message, target.target) }
    private var type: PushType { notification.content.isSilent ? .background : .alert }

    private func forwarded(_ document: JSON, _ priority: Int?) throws(AdapterError) -> PushPayload {
        let bytes = JSONWriter.bytes(document)
        do throws(PushFault) {
            return try RawPayload.push(bytes, type: type, priority: priority, collapseID: notification.collapseID)
        } catch {
            throw AdapterError(error, payload: "payload")
        }
    }

    /// - Throws: `AdapterError(.withheld)` if the filter excludes the target.
    private func check(_ filter: JSON) throws(AdapterError) {
        let filter = try AudienceFilter(stored: filter)
        guard filter.includes(target, at: notification.sentAt) else {
            throw AdapterError(.withheld, field: "payload")
        }
    }

    /// Renders the texts for this target.
    ///
    /// - Throws: `AdapterError(.withheld)` if the template aborts the message for this target, `.tooLarge`.
    private func rendered(_ document: JSONObject) throws(AdapterError) -> JSONObject {
        let data = notification.content.data
        var campaign = data[Self.campaignKey]?.object ?? JSONObject()
        campaign["dispatch_id"] = .string(HexCoding.encode(notification.message.rawValue.bytes))
        var scope = LiquidScope(attributes: target.person.attributes, campaign: campaign, now: notification.sentAt)
        scope.attributes["user_id"] = target.person.user.map { .string($0.rawValue) }
        scope.properties = data[Self.propertiesKey]?.object ?? JSONObject()
        for (name, value) in target.variables.pairs { scope.properties[name] = value }
        var renderer = LiquidRenderer(scope)
        do throws(LiquidProblem) {
            return try renderer.rendered(document)
        } catch {
            throw AdapterError(error == .aborted ? .withheld : .tooLarge, field: "payload")
        }
    }
}
