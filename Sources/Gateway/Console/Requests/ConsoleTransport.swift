import GatewayHTTP
package import HTTPTypes

/// Whether a request of the console came over a connection that nobody else reads.
package enum ConsoleTransport {
    private static let forwardedProtocol = HTTPField.Name("X-Forwarded-Proto")

    /// Checks the connection of a request.
    ///
    /// Accepted are TLS, a trusted proxy that reports HTTPS, and this machine itself if the browser names the machine or its address: a domain that leads here
    /// could belong to somebody else's page.
    ///
    /// - Parameters:
    ///   - authority: the host that the browser names.
    ///   - peer: the address of the connection.
    ///   - headers: the headers of the request.
    ///   - settings: how the listener is reached.
    /// - Returns: the console's own address as the browser sees it, `https://console.example`; nil: the connection is not acceptable.
    package static func origin(
        authority: String?,
        peer: String?,
        headers: HTTPFields,
        _ settings: ConsoleSettings
    ) -> String? {
        guard let authority, !authority.isEmpty, authority.utf8.count <= 255 else { return nil }
        if settings.isTLS { return "https://\(authority)" }
        if settings.proxies.isTrusted(peer: peer), let name = forwardedProtocol, let given = headers[name] {
            return given.lowercased() == "https" ? "https://\(authority)" : nil
        }
        return settings.isLoopback && isLocal(authority) ? "http://\(authority)" : nil
    }

    /// False for a domain.
    static func isLocal(_ authority: String) -> Bool {
        if authority.hasPrefix("[") { return true }
        let host = authority.prefix { $0 != ":" }.lowercased()
        return host == "localhost" || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
