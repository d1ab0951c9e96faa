import HTTPTypes
import Model

/// A call of the tutorial's back end, below the binding's prefix or at the root: `/{prefix}/api/register/{id}` (docs/contracts/notificationhubs.md#10).
struct BackendPath: Hashable {
    enum Call: Hashable {
        /// A new id for a registration.
        case register
        case registration(String)
        /// A push to a user, or a rich push to the caller.
        case notifications
        /// The content of a rich push.
        case notification(String)
        case unknown
    }

    /// The key of a binding without a prefix.
    static let root = "api"

    /// In lower case; `root` if the path has no prefix.
    let prefix: String
    let call: Call

    static var routes: [VendorRoute] {
        func route(_ name: String, _ path: VendorRoute.Path) -> VendorRoute {
            VendorRoute(name: name, path: path, bodyLimitBytes: HubsLimits.backendBodyBytes)
        }
        return [
            route("hubs.register", .prefix("/api/register")), route("hubs.notification", .prefix("/api/notifications")),
            route("hubs.backend", .within(root)),
        ]
    }

    /// Nil: not a path of this back end. ASP.NET compares paths without case.
    init?(_ path: String) {
        guard path.utf8.count <= HubsLimits.pathBytes else { return nil }
        var parts: [String] = []
        for part in path.split(separator: "/") {
            guard let decoded = PercentCoding.decode(part.utf8, plusIsSpace: false) else { return nil }
            parts.append(decoded)
        }
        guard let place = parts.prefix(2).firstIndex(where: { $0.lowercased() == Self.root }) else { return nil }
        prefix = place == 0 ? Self.root : parts[0].lowercased()
        let rest = parts.dropFirst(place + 1)
        switch (rest.first?.lowercased(), rest.count) {
        case ("register", 1): call = .register
        case ("register", 2): call = .registration(rest[place + 2])
        case ("notifications", 1): call = .notifications
        case ("notifications", 2): call = .notification(rest[place + 2])
        default: call = .unknown
        }
    }

    var methods: Set<HTTPRequest.Method> {
        switch call {
        case .register, .notifications: [.post]
        case .registration: [.put, .delete]
        case .notification: [.get]
        case .unknown: []
        }
    }
}
