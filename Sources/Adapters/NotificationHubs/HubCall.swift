import HTTPTypes
import Model

/// One call of the data plane. Paths are compared without case and may end with a slash (docs/contracts/notificationhubs.md#3.5).
enum HubCall: Hashable {
    case installation(String)
    /// Sends.
    case messages
    /// Direct sends to many handles.
    case batch
    /// One message's telemetry.
    case message(String)
    /// Sends that wait for their time.
    case schedules
    /// One of them.
    case schedule(String)
    /// A new id of a registration.
    case registrationIDs
    /// Registrations: a new one, or a list.
    case registrations
    case registration(String)
    /// The list of those with a tag.
    case tagged(String)
    /// Known, and not answered yet.
    case later

    /// The second part of a path, with the name of its route.
    private static let parts: KeyValuePairs = [
        "installations": "hubs.installation", "messages": "hubs.message", "registrations": "hubs.registration",
        "registrationids": "hubs.newid", "schedulednotifications": "hubs.schedule", "tags": "hubs.tag",
        "feedbackcontainer": HubCall.laterRoute, "jobs": HubCall.laterRoute,
    ]

    static let laterRoute = "hubs.later"

    static var routes: [VendorRoute] {
        parts.map {
            // A batch is called below the path of sends.
            let limit = $0 == "messages" ? HubsLimits.batchBytes : HubsLimits.bodyBytes
            return VendorRoute(name: $1, path: .within($0), bodyLimitBytes: limit)
        }
    }

    /// What `part` and what follows it mean; nil: nothing that this vendor has.
    init?(_ part: String, _ rest: [String]) {
        guard Self.parts.contains(where: { $0.key == part }) else { return nil }
        switch (part, rest.count) {
        case ("installations", 1): self = .installation(rest[0])
        case ("messages", 0): self = .messages
        case ("messages", 1) where rest[0].lowercased() == "$batch": self = .batch
        case ("messages", 1): self = .message(rest[0])
        // Where the answer to a batch says that it is.
        case ("messages", 2) where rest[0].lowercased() == "$batch": self = .message(rest[1])
        case ("schedulednotifications", 0): self = .schedules
        case ("schedulednotifications", 1): self = .schedule(rest[0])
        case ("registrationids", 0): self = .registrationIDs
        case ("registrations", 0): self = .registrations
        case ("registrations", 1): self = .registration(rest[0])
        case ("tags", 2) where rest[1].lowercased() == "registrations": self = .tagged(rest[0])
        case ("installations", _), ("messages", _), ("registrationids", _), ("registrations", _), ("tags", _):
            return nil
        default: self = .later  // the parts that are not there yet
        }
    }

    var methods: Set<HTTPRequest.Method> {
        switch self {
        case .installation: [.get, .put, .patch, .delete]
        case .messages, .schedules, .batch: [.post]
        case .schedule: [.delete]
        case .message, .tagged: [.get]
        case .registrationIDs: [.post]
        case .registrations: [.get, .post]
        case .registration: [.get, .put, .delete]
        case .later: [.get, .put, .post, .delete, .patch]
        }
    }
}

/// The path of a call: `/{hub}/installations/{id}`.
struct HubPath: Hashable {
    /// As the caller spells it.
    let hub: String
    let call: HubCall
    /// Every part, decoded and lower-case: what a signature's resource is held against.
    let folded: [String]

    init?(_ path: String) {
        guard path.utf8.count <= HubsLimits.pathBytes else { return nil }
        var parts: [String] = []
        for part in path.split(separator: "/") {
            guard let decoded = PercentCoding.decode(part.utf8, plusIsSpace: false), !decoded.contains("/") else {
                return nil
            }
            parts.append(decoded)
        }
        guard parts.count > 1, let call = HubCall(parts[1].lowercased(), Array(parts.dropFirst(2))) else { return nil }
        hub = parts[0]
        self.call = call
        folded = parts.map { $0.lowercased() }
    }
}

extension VendorRequest {
    /// As the client addressed it, with port.
    var authority: String? { header("Host").flatMap { $0.isEmpty ? nil : $0 } }

    /// The value of a query parameter, decoded; empty where it has none; nil where it is not there. Names compare without case.
    func parameter(_ name: String) -> String? {
        for pair in (query ?? "").split(separator: "&").prefix(HubsLimits.parameterCount) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts[0].lowercased() == name else { continue }
            return parts.count > 1 ? PercentCoding.decode(parts[1].utf8, plusIsSpace: false) ?? "" : ""
        }
        return nil
    }
}

/// Versions of the interface that callers may name (docs/contracts/notificationhubs.md#3.5). Assumed: all have the same effect, and so does a call without a
/// version.
enum APIVersion {
    static let known: Set<String> = [
        "2013-04", "2013-10", "2014-09", "2015-01", "2015-04", "2015-08", "2016-07", "2017-04", "2020-06",
    ]

    /// What the caller names: the query before the header.
    static func named(_ request: VendorRequest) -> String? {
        request.parameter("api-version") ?? request.header("x-ms-version")
    }

    /// - Throws: `AdapterError` for a version that nobody knows.
    static func check(_ request: VendorRequest) throws(AdapterError) {
        guard let named = named(request), !known.contains(named) else { return }
        throw AdapterError(.invalid, field: "The api-version '\(named.prefix(32))' is not supported")
    }
}
