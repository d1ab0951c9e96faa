import ApplePayload
import HTTPTypes
import Model

/// A send to the vendor's hub without its targets.
struct HubsSend: Hashable {
    /// The value of `ServiceBusNotification-Format`.
    private(set) var format = "apple"
    private(set) var body: [UInt8]
    /// The headers of the push, by name.
    private var options: [String: String]

    /// The caller's own send: its body byte for byte and the options that it requested, so that reading it again gives the stored message.
    ///
    /// - Parameters:
    ///   - notification: a message of this dialect with a body of its caller.
    ///   - topic: the app's topic. Types whose topic has a suffix state it, because the vendor has the bare one.
    init?(_ notification: Notification, topic: String?) {
        let content = notification.content
        guard notification.origin == .notificationHubs, content.media == nil, let raw = content.raw else { return nil }
        if content.variants != nil { format = "template" }
        body = HubsPayload.text(of: content) ?? JSONWriter.bytes(raw)
        options = HubsPayload.headers(of: content)
        options["apns-collapse-id"] = notification.collapseID
        let type = options[HubsPayload.typeHeader].flatMap { HubsPayload.type(named: $0) }
        addTopic(topic, type)
    }

    /// A push that the gateway wrote: of another dialect, of the tutorials' back end, or of a filled template.
    init(_ push: PushPayload, end: Timestamp?, topic: String?) {
        body = push.bytes
        options = [HubsPayload.typeHeader: push.type.wireName, HubsPayload.priorityHeader: "\(push.priority)"]
        options[HubsPayload.expirationHeader] = (push.expiresAt ?? end).map { "\($0.seconds)" }
        options["apns-collapse-id"] = push.collapseID
        addTopic(topic, push.type)
    }

    private mutating func addTopic(_ topic: String?, _ type: PushType?) {
        guard let topic, let suffix = type?.rule.topicSuffix, !suffix.isEmpty else { return }
        options["apns-topic"] = topic + suffix
    }

    /// The headers of the call.
    func fields(contentType: String, tags: String? = nil) -> HTTPFields {
        var fields = HTTPFields()
        fields[.contentType] = contentType
        var named = options
        named["ServiceBusNotification-Format"] = format
        named[SendRequest.tagsHeader] = tags
        // In one order, because the same message must give the same call on every node.
        for (name, value) in named.sorted(by: { $0.key < $1.key }) {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }
}

/// The body of a batch of direct sends (docs/contracts/notificationhubs.md#7.4).
struct BatchForm {
    private let boundary: String
    let bytes: [UInt8]

    var contentType: String { #"multipart/mixed; boundary="\#(boundary)""# }

    init(_ notification: [UInt8], to handles: [String]) {
        boundary = Self.boundary(for: notification)
        let head = "Content-Type: application/json; charset=utf-8\r\nContent-Disposition: inline; name="
        var bytes = Array("--\(boundary)\r\n\(head)notification\r\n\r\n".utf8)
        bytes += notification
        bytes += Array("\r\n--\(boundary)\r\n\(head)devices\r\n\r\n".utf8)
        bytes += JSONWriter.bytes(.array(handles.map { .string($0) }))
        bytes += Array("\r\n--\(boundary)--\r\n".utf8)
        self.bytes = bytes
    }

    private static let standard = "nh-batch-multipart-boundary"

    /// The documented one, with a number if the notification contains that text. A notification of a few kilobytes contains few of the numbered ones.
    private static func boundary(for notification: [UInt8]) -> String {
        let text = String(decoding: notification, as: UTF8.self)
        guard text.contains(standard) else { return standard }
        var number = 1
        while text.contains("\(standard)-\(number)-"), number < HubsLimits.batchBytes { number += 1 }
        return "\(standard)-\(number)-"
    }
}
