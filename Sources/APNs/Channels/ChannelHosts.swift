package import Model

/// Where broadcasts and calls about channels go. Free, because simulators and proxies exist.
package struct ChannelHosts: Sendable, Hashable {
    /// Broadcasts leave through the host of all pushes.
    package var send: APNsEndpoint
    /// Channels are managed at a separate host and port; port 443 of that host is another service (docs/contracts/apns.md#1).
    package var manage: APNsEndpoint

    package init(send: APNsEndpoint, manage: APNsEndpoint) {
        self.send = send
        self.manage = manage
    }

    /// Apple's own. Source: Apple, "Sending channel management requests to APNs" and "Sending broadcast push notification requests to APNs".
    package init(_ environment: PushEnvironment) {
        let manage =
            switch environment {
            case .production: APNsEndpoint(host: "api-manage-broadcast.push.apple.com", port: 2196)
            case .sandbox: APNsEndpoint(host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195)
            }
        self.init(send: APNsEndpoint(environment), manage: manage)
    }
}
