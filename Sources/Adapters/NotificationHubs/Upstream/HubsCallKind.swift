import HTTPTypes
import Model

/// The kinds of calls. The second part of the path and the method decide, so that a call that cannot be read has a kind too.
enum HubsCallKind {
    static func kind(of request: VendorRequest) -> CallKind {
        let isReading = request.method == .get || request.method == .head
        if let path = BackendPath(request.path) { return kind(of: path.call, isReading: isReading) }
        guard let part = part(request.path) else { return .other }
        switch part {
        case "installations", "registrations", "registrationids":
            return isReading ? .read : .device
        // Assumed: a job that is created imports registrations; an export is created in the same way.
        case "jobs": return isReading ? .read : .device
        case "messages", "schedulednotifications":
            if isReading { return .read }
            return request.method == .delete ? .message : .send
        case "tags", "feedbackcontainer": return .read
        default: return .other
        }
    }

    private static func kind(of call: BackendPath.Call, isReading: Bool) -> CallKind {
        switch call {
        case .register, .registration: isReading ? .read : .device
        case .notifications: isReading ? .read : .send
        case .notification: .read
        case .unknown: .other
        }
    }

    /// The second part of a path, decoded and in lower case.
    private static func part(_ path: String) -> String? {
        guard path.utf8.count <= HubsLimits.pathBytes else { return nil }
        let parts = path.split(separator: "/", maxSplits: 2)
        guard parts.count > 1 else { return nil }
        return PercentCoding.decode(parts[1].utf8, plusIsSpace: false)?.lowercased()
    }
}
