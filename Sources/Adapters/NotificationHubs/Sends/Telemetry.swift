import Model

/// The results of one send (docs/contracts/notificationhubs.md#7.8).
struct Telemetry {
    let report: MessageReport
    let host: String
    let hub: String
    /// `?api-version=…`, or empty.
    let version: String

    init(_ report: MessageReport, host: String, hub: String, version: String) {
        self.report = report
        self.host = host
        self.hub = hub
        self.version = version
    }

    private static let namespace = """
        xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" \
        xmlns:i="http://www.w3.org/2001/XMLSchema-instance"
        """

    var xml: String {
        let id = HubMessageID.text(report.message)
        var text = "<NotificationDetails \(Self.namespace)>"
        text += element("NotificationId", id)
        text += element("Location", "sb://\(host)/\(PercentCoding.encode(hub))/messages/\(id)\(version)")
        text += element("State", state)
        text += element("EnqueueTime", HubTime.iso(report.acceptedAt))
        if let first = report.firstAt { text += element("StartTime", HubTime.iso(first)) }
        if isEnded, let last = report.lastAt { text += element("EndTime", HubTime.iso(last)) }
        text += element("NotificationBody", body)
        text += element("TargetPlatforms", "apple")
        text += "<ApnsOutcomeCounts>"
        for (name, count) in outcomes {
            text += "<Outcome>" + element("Name", name) + element("Count", "\(count)") + "</Outcome>"
        }
        return text + "</ApnsOutcomeCounts><PnsErrorDetailsUri></PnsErrorDetailsUri></NotificationDetails>"
    }

    private func element(_ name: String, _ value: String) -> String { "<\(name)>\(XMLText.escape(value))</\(name)>" }

    private var body: String {
        let content = report.content
        return content.data[HubsPayload.textKey]?.string ?? content.raw.map { JSONWriter.text($0) } ?? ""
    }

    private var isEnded: Bool {
        switch report.state {
        case .done, .canceled, .expired, .dead, .observed: true
        case .scheduled, .expanding, .sending, .paused, .awaitingApproval: false
        }
    }

    /// Assumed: the mapping of the gateway's states to the vendor's words.
    private var state: String {
        switch report.state {
        case .scheduled, .paused, .awaitingApproval: "Enqueued"
        case .expanding, .sending: "Processing"
        case .done, .observed: report.tallies.isEmpty ? "NoTargetFound" : "Completed"
        case .canceled: "Cancelled"
        case .expired, .dead: "Abandoned"
        }
    }

    /// By the vendor's names: `Success` first, then in alphabetical order.
    private var outcomes: [(String, Int)] {
        var counts: [String: Int] = [:]
        for tally in report.tallies where tally.state.isSettled {
            counts[Self.name(tally.state, tally.reason), default: 0] += tally.count
        }
        return counts.sorted { ($0.key == "Success" ? "" : $0.key) < ($1.key == "Success" ? "" : $1.key) }.map {
            ($0.key, $0.value)
        }
    }

    /// docs/contracts/notificationhubs.md#7.8. Assumed: the names for pushes that were never sent to Apple.
    static func name(_ state: DeliveryState, _ reason: String?) -> String {
        switch state {
        case .sent, .received, .read: "Success"
        case .expired: "Dropped"
        case .canceled: "AbandonedNotificationMessages"
        case .suppressed: reason == SuppressionReason.noDevice.rawValue ? "ExpiredChannel" : "Skipped"
        case .failed: names.first { $0.key == reason }?.value ?? "UnknownError"
        case .queued: "UnknownError"
        }
    }

    private static let names: KeyValuePairs = [
        "BadDeviceToken": "BadChannel", "Unregistered": "ExpiredChannel", "ExpiredToken": "ExpiredChannel",
        "ExpiredProviderToken": "InvalidCredentials", "InvalidProviderToken": "InvalidCredentials",
        "MissingProviderToken": "InvalidCredentials", "PayloadTooLarge": "InvalidNotificationSize",
        "payloadTooLarge": "InvalidNotificationSize", "payloadInvalid": "InvalidNotificationFormat",
        "TooManyRequests": "Throttled", "TooManyProviderTokenUpdates": "Throttled",
        "InternalServerError": "PnsServerError", "ServiceUnavailable": "PnsServerError", "Shutdown": "PnsServerError",
        "noTransport": "PnsUnreachable",
    ]
}
