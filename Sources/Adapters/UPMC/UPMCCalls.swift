package import Model

/// A supported call, whatever its path prefix. The raw value is its name in the path without `.ctl`, and the route's name in metrics.
///
/// Source: docs/contracts/upmc.md#1.6.
package enum UPMCCall: String, Sendable, CaseIterable {
    case askingAuthorization = "asking_authorization"
    case encryptionKey = "getEncriptKey"
    case registerService = "rcv_register_service"
    case addService = "rcv_add_service"
    case registerUser = "rcv_register_user"
    case registerServiceAndUser = "new_rcv_register_service_and_user"
    case registerWebServiceAndUser = "wpns_rcv_register_service_and_user"
    case getService = "rcv_get_service"
    case deleteService = "rcv_delete_service"
    case deleteUser = "rcv_delete_user"
    case joinGroup = "rcv_register_usergroup_user"
    case leaveGroup = "rcv_delete_usergroup_user"
    case groupUsers = "rcv_get_usergroup_user"
    case registerGroup = "rcv_register_usergroup"
    case groups = "rcv_get_usergroup"
    case deleteGroup = "rcv_delete_usergroup"
    case acknowledge = "rcv_register_sent_ack"
    case read = "rcv_register_send_result"
    case setBadge = "rcv_init_badgeNo"
    case send = "rcv_register_message"
    case sendToGroup = "rcv_register_groupmessage"
    case sendToList = "rcv_register_csvmessage"
    case alive = "rcv_appAlive"
    case brokerConfiguration = "rcv_comm_configuration"
    case reallocateBroker = "reAllocateUpns"
    case putLog = "putAppLog"
    /// Calls of the gateway, not of the vendor (docs/contracts/upmc.md#1.11).
    case messageList = "gw_get_message_list"
    case message = "gw_get_message"
    case unreadCount = "gw_get_unread_count"
    case lastSession = "last-session"
    case purchase = "purchase"

    /// Known base paths of the vendor's servers (docs/contracts/upmc.md#1.2); `.ctl` names are answered below any other path too.
    static let prefixes = ["/upmc", "/receiver", ""]

    /// The exact path of every call; then all other paths that end in `.ctl`, in any case and below any prefix.
    package static var routes: [VendorRoute] {
        let exact = allCases.flatMap { endpoint in
            prefixes.map { prefix in
                VendorRoute(
                    name: endpoint.rawValue,
                    path: .exact(prefix + endpoint.path),
                    bodyLimitBytes: endpoint.bodyLimitBytes
                )
            }
        }
        let rest = VendorRoute(name: unknownRoute, path: .suffix(".ctl"), bodyLimitBytes: UPMCLimits.fileBodyBytes)
        let known = prefixes.filter { !$0.isEmpty }.map { prefix in
            VendorRoute(name: unknownRoute, path: .prefix(prefix), bodyLimitBytes: UPMCLimits.fileBodyBytes)
        }
        return exact + known + [rest]
    }

    static let unknownRoute = "unknown"

    /// The call of a path, determined by its last part: first in the exact spelling, then ignoring case.
    package init?(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard let last = parts.last else { return nil }
        if parts.dropLast().last == "mobile", let found = Self(rawValue: String(last)), found.isMarketing {
            self = found
            return
        }
        guard last.utf8.count <= UPMCLimits.identifierBytes, last.lowercased().hasSuffix(".ctl") else { return nil }
        let name = String(last.dropLast(4))
        if let found = Self(rawValue: name), !found.isMarketing {
            self = found
            return
        }
        let folded = name.lowercased()
        guard let found = Self.allCases.first(where: { !$0.isMarketing && $0.rawValue.lowercased() == folded }) else {
            return nil
        }
        self = found
    }

    var path: String { isMarketing ? "/mobile/\(rawValue)" : "/\(rawValue).ctl" }

    /// The calls of the marketing server, in JSON (docs/contracts/upmc.md#1.13).
    var isMarketing: Bool { self == .lastSession || self == .purchase }

    /// The send calls, whose `BODY` is an object (docs/contracts/upmc.md#1.3).
    var isSend: Bool { self == .send || self == .sendToGroup || self == .sendToList }

    /// Sends, and the administration of groups, belong to back ends; a device only joins and leaves groups.
    package var caller: CallerKind {
        switch self {
        case .send, .sendToGroup, .sendToList, .registerGroup, .groups, .deleteGroup, .groupUsers: .sender
        default: .device  // all other calls of apps
        }
    }

    /// Whether the call may be the first one of a device.
    var registers: Bool {
        switch self {
        case .registerService, .addService, .registerServiceAndUser, .registerWebServiceAndUser: true
        default: false  // calls of registered devices, and of back ends
        }
    }

    /// Calls of the gateway, not of the vendor (docs/contracts/upmc.md#1.11).
    var isHistory: Bool { self == .messageList || self == .message || self == .unreadCount }

    private var bodyLimitBytes: Int { self == .sendToList ? UPMCLimits.fileBodyBytes : UPMCLimits.bodyBytes }
}
