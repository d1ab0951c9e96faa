package import Model

/// The hosts for broadcasts and for requests about channels. Any host is allowed, because simulators and proxies exist.
package struct ChannelHosts: Sendable, Hashable {
    /// Broadcasts go to the host of all pushes.
    package var send: APNsEndpoint
    /// Channels are managed at a separate host and port; port 443 of that host is another service (docs/contracts/apns.md#1).
    package var manage: APNsEndpoint

    package init(send: APNsEndpoint, manage: APNsEndpoint) {
        self.send = send
        self.manage = manage
    }

    /// Apple's hosts. Source: Apple, "Sending channel management requests to APNs" and "Sending broadcast push notification requests to APNs".
    package init(_ environment: PushEnvironment) {
        let manage =
            switch environment {
            case .production: APNsEndpoint(host: "api-manage-broadcast.push.apple.com", port: 2196)
            case .sandbox: APNsEndpoint(host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195)
            }
        self.init(send: APNsEndpoint(environment), manage: manage)
    }
}
