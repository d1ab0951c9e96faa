import HTTPTypes
import Model

/// A call of the data plane. Paths are compared without case and may end with a slash (docs/contracts/notificationhubs.md#3.5).
enum HubsCall: Hashable {
    case installation(String)
    /// A send.
    case messages
    /// A direct send to many handles.
    case batch
    /// The telemetry of one message.
    case message(String)
    /// A scheduled send.
    case schedules
    /// One scheduled send.
    case schedule(String)
    /// A new registration id.
    case registrationIDs
    /// A new registration, or the list of registrations.
    case registrations
    case registration(String)
    /// The list of registrations with a tag.
    case tagged(String)
    /// A call that the vendor has and the gateway does not support yet.
    case later

    /// The second part of a path, and the name of its route.
    private static let parts: KeyValuePairs = [
        "installations": "hubs.installation", "messages": "hubs.message", "registrations": "hubs.registration",
        "registrationids": "hubs.newid", "schedulednotifications": "hubs.schedule", "tags": "hubs.tag",
        "feedbackcontainer": HubsCall.laterRoute, "jobs": HubsCall.laterRoute,
    ]

    static let laterRoute = "hubs.later"

    static var routes: [VendorRoute] {
        parts.map {
            // The path of a batch is below the path of sends.
            let limit = $0 == "messages" ? HubsLimits.batchBytes : HubsLimits.bodyBytes
            return VendorRoute(name: $1, path: .within($0), bodyLimitBytes: limit)
        }
    }

    /// The call for `part` and the parts after it; nil: the vendor does not have it.
    init?(_ part: String, _ rest: [String]) {
        guard Self.parts.contains(where: { $0.key == part }) else { return nil }
        switch (part, rest.count) {
        case ("installations", 1): self = .installation(rest[0])
        case ("messages", 0): self = .messages
        case ("messages", 1) where rest[0].lowercased() == "$batch": self = .batch
        case ("messages", 1): self = .message(rest[0])
        // The location in the answer to a batch.
        case ("messages", 2) where rest[0].lowercased() == "$batch": self = .message(rest[1])
        case ("schedulednotifications", 0): self = .schedules
        case ("schedulednotifications", 1): self = .schedule(rest[0])
        case ("registrationids", 0): self = .registrationIDs
        case ("registrations", 0): self = .registrations
        case ("registrations", 1): self = .registration(rest[0])
        case ("tags", 2) where rest[1].lowercased() == "registrations": self = .tagged(rest[0])
        case ("installations", _), ("messages", _), ("registrationids", _), ("registrations", _), ("tags", _):
            return nil
        default: self = .later  // parts that are not supported yet
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
    /// In the caller's spelling.
    let hub: String
    let call: HubsCall
    /// All parts, decoded and in lower case; the resource of a signature is compared with them.
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
        guard parts.count > 1, let call = HubsCall(parts[1].lowercased(), Array(parts.dropFirst(2))) else { return nil }
        hub = parts[0]
        self.call = call
        folded = parts.map { $0.lowercased() }
    }

    /// Whether every server reads the same call in it: no part is a step upwards, or could be decoded once more.
    var isPlain: Bool {
        folded.allSatisfy { part in part != "." && part != ".." && !part.contains { $0 == "%" || $0 == "\\" } }
    }
}

extension VendorRequest {
    /// The host and port to which the client addressed the call.
    var authority: String? { header("Host").flatMap { $0.isEmpty ? nil : $0 } }

    /// The decoded value of a query parameter; empty if it has none; nil if it is absent. Names are compared without case.
    func parameter(_ name: String) -> String? {
        for pair in (query ?? "").split(separator: "&").prefix(HubsLimits.parameterCount) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts[0].lowercased() == name else { continue }
            return parts.count > 1 ? PercentCoding.decode(parts[1].utf8, plusIsSpace: false) ?? "" : ""
        }
        return nil
    }
}

/// The versions of the interface that callers may name (docs/contracts/notificationhubs.md#3.5). Assumed: all have the same effect, and so does a call
/// without a version.
enum APIVersion {
    static let known: Set<String> = [
        "2013-04", "2013-10", "2014-09", "2015-01", "2015-04", "2015-08", "2016-07", "2017-04", "2020-06",
    ]

    /// The version that the caller names; the query takes precedence over the header.
    static func named(_ request: VendorRequest) -> String? {
        request.parameter("api-version") ?? request.header("x-ms-version")
    }

    /// - Throws: `AdapterError` for an unknown version.
    static func check(_ request: VendorRequest) throws(AdapterError) {
        guard let named = named(request), !known.contains(named) else { return }
        throw AdapterError(.invalid, field: "The api-version '\(named.prefix(32))' is not supported")
    }
}
