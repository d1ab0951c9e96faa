import HTTPTypes
import Model

/// Writes the calls by which the vendor's server sends a message to devices (docs/contracts/ipns.md#2.11).
///
/// Assumed: the vendor understands the send of the gateway's own contract; its real interface is not public. The message leaves when it is due, so the calls
/// have no reservation. `PRIORITY` and `REPORT_URL` are not kept with a message. Fields of other interfaces that the call cannot express are left out: subtitle,
/// image, and a badge that the gateway counts.
struct IPNSSend {
    static let keyField = "apiKey"

    private let notification: Notification
    private let appID: String
    /// Nil: the vendor's send needs none.
    private let key: String?

    private var content: Content { notification.content }

    init(_ notification: Notification, appID: String, key: String?) {
        self.notification = notification
        self.appID = appID
        self.key = key
    }

    /// The calls to all targets that have a device key.
    ///
    /// - Throws: `AdapterError` naming the field that cannot be expressed.
    func calls(to targets: [TargetFacts], at time: Timestamp) throws(AdapterError) -> [UpstreamCall] {
        let fields = try fields()
        return TargetGroups(targets) { $0.key.rawValue }.calls(targets: IPNSLimits.upstreamTargets).map { groups in
            var body: JSONObject = ["APP_ID": .string(appID), "PUSH_ID_TYPE": "@00"]
            body["PUSH_ID"] = .array(groups.map { JSON.string($0.name) })
            for (name, value) in fields.pairs { body[name] = value }
            return UpstreamCall(request(JSONWriter.bytes(.object(body)), at: time), to: groups)
        }
    }

    private func request(_ body: [UInt8], at time: Timestamp) -> VendorRequest {
        var headers = HTTPFields()
        headers[.contentType] = "application/json; charset=UTF-8"
        headers[.authorization] = key.map { "Bearer \($0)" }
        return VendorRequest(
            route: IPNSCall.send.rawValue,
            path: "\(IPNSCall.mount)/\(IPNSCall.send.rawValue)",
            headers: headers,
            body: body,
            receivedAt: time
        )
    }

    /// The content. A field that the message does not have is left out.
    private func fields() throws(AdapterError) -> JSONObject {
        guard content.raw == nil else { throw AdapterError(.invalid, field: "raw") }
        guard !content.isSilent else { throw AdapterError(.invalid, field: "silent") }
        guard content.activity == nil else { throw AdapterError(.invalid, field: "activity") }
        let alert = IPNSPayload.alert(of: content)
        guard !alert.isEmpty else { throw AdapterError(.missing, field: IPNSFields.Key.alert.rawValue) }
        let message = IPNSPayload.message(of: notification)
        var fields: JSONObject = ["PRIORITY": "3", "SEND_TYPE": "I", "RESV_DATE": ""]
        fields["TITLE"] = try text(content.title, .title, limit: IPNSLimits.titleBytes)
        fields["ALERT"] = try text(alert, .alert, limit: IPNSLimits.alertBytes)
        fields["MESSAGE"] = try text(message.isEmpty ? nil : message, .message, limit: IPNSLimits.messageBytes)
        fields["SOUND"] = try text(content.sound, .sound, limit: IPNSLimits.identifierBytes)
        fields["BADGE"] = content.badgeStep == nil ? content.badge.map { JSON.int($0) } : nil
        return fields
    }

    private func text(_ text: String?, _ key: IPNSFields.Key, limit: Int) throws(AdapterError) -> JSON? {
        guard let text else { return nil }
        guard text.utf8.count <= limit else { throw AdapterError(.tooLarge, field: key.rawValue) }
        return .string(text)
    }
}
