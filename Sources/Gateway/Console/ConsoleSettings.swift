package import GatewayHTTP

/// How a listener of the console is reached.
package struct ConsoleSettings: Sendable {
    /// Whether only this machine reaches the listener.
    package var isLoopback: Bool
    package var isTLS: Bool
    /// Whether every account needs one-time codes.
    package var mustHaveCodes: Bool
    package var proxies: TrustedProxies
    /// Nil: proxies name their clients in headers of calls only.
    package var proxied: ProxiedClients?

    package init(
        isLoopback: Bool,
        isTLS: Bool,
        mustHaveCodes: Bool,
        proxies: TrustedProxies = TrustedProxies(),
        proxied: ProxiedClients? = nil
    ) {
        self.isLoopback = isLoopback
        self.isTLS = isTLS
        self.mustHaveCodes = mustHaveCodes
        self.proxies = proxies
        self.proxied = proxied
    }
}
