import ApplePayload
import HTTPTypes
import Model

/// The push options in the headers of a send (docs/contracts/notificationhubs.md#7, docs/contracts/notificationhubs.md#7.1).
struct PushHeaders {
    private(set) var type: PushType?
    private(set) var priority: Int?
    private(set) var collapseID: String?
    /// The expiry that the caller requests; zero: one attempt only.
    private(set) var end: Timestamp?

    /// - Throws: `AdapterError` with the text of the answer.
    init(_ request: VendorRequest, _ settings: HubsSettings) throws(AdapterError) {
        if let name = request.header("apns-push-type") {
            guard let known = HubsPayload.type(named: name) else { throw Self.fault("apns-push-type") }
            type = known
        }
        if let text = request.header("apns-priority") {
            guard let number = Int(text), PushTypeRule.Priorities.any.contains(number: number) else {
                throw Self.fault("apns-priority")
            }
            priority = number
        }
        if let text = request.header("apns-collapse-id") {
            guard (1...AppleLimits.collapseIDBytes).contains(text.utf8.count) else {
                throw Self.fault("apns-collapse-id")
            }
            collapseID = text
        }
        try check(topic: request.header("apns-topic"), settings)
        end = try Self.end(request)
    }

    /// How long a push that is due at `start` may wait in the gateway. It is never shorter than the gateway needs to send it; Apple receives `end` itself.
    func timeToLive(from start: Timestamp) -> Duration {
        guard let end else { return HubsLimits.timeToLive }
        return min(max(end - start, HubsLimits.minimumTimeToLive), HubsLimits.maximumTimeToLive)
    }

    private static func fault(_ name: String) -> AdapterError {
        AdapterError(.invalid, field: "The value of \(name) is not valid")
    }

    /// Only the hub's own topic is allowed: a topic that Apple refuses would stop the credential for all senders that use it.
    private func check(topic: String?, _ settings: HubsSettings) throws(AdapterError) {
        guard let topic, let own = settings.topic else { return }
        guard topic == own || topic.hasPrefix(own + ".") else {
            throw AdapterError(.invalid, field: "The value of apns-topic is not the topic of this hub")
        }
    }

    private static func end(_ request: VendorRequest) throws(AdapterError) -> Timestamp? {
        let own = "apns-expiration"
        if let text = request.header(own) {
            guard let time = HubTime.unix(text) else { throw fault(own) }
            return time
        }
        // A published client omits the second hyphen (docs/contracts/notificationhubs.md#7).
        for name in ["ServiceBusNotification-Apns-Expiry", "ServiceBusNotification-ApnsExpiry"] {
            guard let text = request.header(name), !text.isEmpty else { continue }
            guard let time = HubTime.parse(text) else { throw fault(name) }
            return time
        }
        return nil
    }
}
