package import Model

/// A supported call, whatever its path. The raw value is the route's name in metrics and logs.
///
/// Source: docs/contracts/rationalowl.md#5 (device), docs/contracts/rationalowl.md#7.4 (gateway's own calls), docs/contracts/rationalowl.md#8 (sender).
package enum RationalOwlCall: String, Sendable, CaseIterable {
    case reqAuthNumber, verifyAuthNumber, installApp, unregUser, notiRead, msgInfo, imgData
    case deviceRegister, deviceToken, deviceUnregister, deviceState, notiDelivered, notiOpened
    case serverRegister
    case clientRegister, sendByPhoneNumber, sendByDeviceID, setCallbackURL

    /// All paths of the calls. Sender paths have aliases: an older name, and the short names of the callback chapter
    /// (docs/contracts/rationalowl.md#8.3).
    package static var routes: [VendorRoute] {
        allCases.flatMap { endpoint in
            endpoint.paths.map { path in
                VendorRoute(
                    name: endpoint.rawValue,
                    path: .exact("\(endpoint.surface.prefix)/\(path)"),
                    bodyLimitBytes: endpoint.surface.bodyLimitBytes
                )
            }
        }
    }

    package var surface: Surface {
        switch self {
        case .reqAuthNumber, .verifyAuthNumber, .installApp, .unregUser, .notiRead, .msgInfo, .imgData: .pushApp
        case .deviceRegister, .deviceToken, .deviceUnregister, .deviceState, .notiDelivered, .notiOpened: .shim
        case .serverRegister: .server
        case .clientRegister, .sendByPhoneNumber, .sendByDeviceID, .setCallbackURL: .messageClient
        }
    }

    /// The paths below the surface's prefix.
    var paths: [String] {
        switch self {
        case .reqAuthNumber, .verifyAuthNumber, .installApp, .unregUser, .notiRead, .msgInfo, .imgData: [rawValue]
        case .deviceRegister: ["device/register"]
        case .deviceToken: ["device/token"]
        case .deviceUnregister: ["device/unregister"]
        case .deviceState: ["device/state"]
        case .notiDelivered: ["noti/delivered"]
        case .notiOpened: ["noti/opened"]
        case .serverRegister, .clientRegister: ["register"]
        case .sendByPhoneNumber: ["msgClientSendMsgByPhoneNum", "sendMsg", "sendMsgByPhoneNum"]
        case .sendByDeviceID: ["msgClientSendMsgByDeviceId", "sendMsgByDeviceId"]
        case .setCallbackURL: ["setCallbackUrl"]
        }
    }

    /// The kind of the binding's key, and the field that contains it.
    var bindingField: (kind: String, field: String) {
        switch surface {
        case .pushApp, .messageClient: ("account", "aId")
        case .shim: ("service", "sId")
        case .server, .deviceGroup, .downstream, .customPush, .tracking, .sync: ("service", "serviceId")
        }
    }
}

/// One of the vendor's interfaces: a group of calls with a common path prefix, limits and error format.
package enum Surface: String, Sendable, CaseIterable {
    case pushApp, messageClient, server
    case shim = "ro"
    /// Interfaces of the core without a supported call: every call is answered with 404 in the core's format.
    case deviceGroup, downstream, tracking, sync
    case customPush = "custompush"

    /// The routes of unknown paths, which are answered in the vendor's format too.
    package static var routes: [VendorRoute] {
        allCases.map {
            VendorRoute(name: $0.routeName, path: .prefix($0.prefix), bodyLimitBytes: RationalOwlLimits.deviceBodyBytes)
        }
    }

    init?(route: String) {
        guard let surface = Self.allCases.first(where: { $0.routeName == route }) else { return nil }
        self = surface
    }

    var routeName: String { "\(rawValue).unknown" }

    package var prefix: String {
        switch self {
        case .pushApp: "/pushApp"
        case .messageClient: "/msgClient"
        case .server: "/server"
        case .shim: "/ro/v1"
        case .deviceGroup, .downstream, .customPush, .tracking, .sync: "/\(rawValue)"
        }
    }

    /// Whether errors have the format of the RationalOwl core: a text in `error`, without a code.
    var isCore: Bool {
        switch self {
        case .server, .deviceGroup, .downstream, .customPush, .tracking, .sync: true
        case .pushApp, .messageClient, .shim: false
        }
    }

    /// The interfaces of the core belong to back ends, as `/msgClient` does.
    var caller: CallerKind {
        switch self {
        case .pushApp, .shim: .device
        case .messageClient, .server, .deviceGroup, .downstream, .customPush, .tracking, .sync: .sender
        }
    }

    var bodyLimitBytes: Int {
        switch self {
        case .messageClient: RationalOwlLimits.senderBodyBytes
        case .pushApp, .server, .shim, .deviceGroup, .downstream, .customPush, .tracking, .sync:
            RationalOwlLimits.deviceBodyBytes
        }
    }
}
