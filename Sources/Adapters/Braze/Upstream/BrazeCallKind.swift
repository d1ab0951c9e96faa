import HTTPTypes
import Model

/// The kinds of calls. The path decides, so that a call that cannot be read has a kind too.
enum BrazeCallKind {
    static func kind(of request: VendorRequest) -> CallKind {
        // Each contains facts of its device and acts of its user; reports of opened pushes are among them.
        if SDKCall(path: request) != nil { return .device }
        let path = request.canonicalPath
        if let call = BrazeCall(rawValue: path) { return kind(of: call) }
        return kind(of: path.split(separator: "/"), isReading: request.method == .get || request.method == .head)
    }

    private static func kind(of call: BrazeCall) -> CallKind {
        switch call {
        // A name of sends is created where the sends to audiences go.
        case .send, .trigger, .scheduleCreate, .triggerScheduleCreate, .sendCreate: .send
        case .scheduleUpdate, .scheduleDelete, .triggerScheduleUpdate, .triggerScheduleDelete: .message
        case .export, .scheduledBroadcasts, .dataSeries, .subscriptionGet, .subscriptionUser: .read
        case .track, .delete, .nameAliases, .identify, .merge, .subscriptionSet, .subscriptionsSet: .user
        }
    }

    /// The kind of a call that the vendor has and the gateway does not answer. A call that may push counts as a send: nothing else repeats it.
    private static func kind(of parts: [Substring], isReading: Bool) -> CallKind {
        let family = parts.first == "v2" ? parts.dropFirst().first : parts.first
        switch family {
        case "users": return isReading || parts.contains("export") ? .read : .user
        case "subscription": return isReading ? .read : .user
        case "messages", "campaigns", "canvas", "sends":
            if isReading { return .read }
            // An update of a Live Activity is a push.
            if parts.contains("live_activity") { return .send }
            return parts.last == "update" || parts.last == "delete" ? .message : .send
        default: return .other
        }
    }
}
