package import Model

/// The address of APNs. Any address is allowed, because simulators, proxies and the firewall port 2197 exist.
package struct APNsEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// A DNS name or an address, without brackets.
    package let host: String
    /// 1...65535.
    package let port: Int

    /// Apple's production endpoint. Source: Apple, "Sending notification requests to APNs" (2026-11).
    package static let production = APNsEndpoint(host: "api.push.apple.com", port: 443)
    /// Apple's development endpoint; the same source.
    package static let sandbox = APNsEndpoint(host: "api.sandbox.push.apple.com", port: 443)

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Apple's endpoint for the tokens of an environment.
    package init(_ environment: PushEnvironment) {
        self = environment == .production ? .production : .sandbox
    }

    /// Reads `https://host[:port]`, with brackets around an IPv6 address; the port is 443 if none is given.
    ///
    /// - Throws: `badEndpoint` for anything else, such as another scheme, a path, a query or a user.
    package init(url: String) throws(APNsError) {
        guard url.hasPrefix("https://"), url.utf8.count <= 300 else { throw APNsError(.badEndpoint) }
        var rest = url.dropFirst("https://".count)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        let (host, port) = try Self.split(rest)
        guard !host.isEmpty, host.utf8.allSatisfy(Self.isHostByte), (1...65_535).contains(port) else {
            throw APNsError(.badEndpoint)
        }
        self.init(host: String(host), port: port)
    }

    /// The value of `:authority`; it contains the port only if that is not 443.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? name : "\(name):\(port)"
    }

    /// Whether it is one of Apple's hosts, on any port.
    var isApples: Bool { host.hasSuffix(".push.apple.com") }

    package var description: String { "https://\(authority)" }

    private static func split(_ text: Substring) throws(APNsError) -> (host: Substring, port: Int) {
        var host = text
        var port: Substring = "443"
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw APNsError(.badEndpoint) }
            host = text[text.index(after: text.startIndex)..<end]
            let tail = text[text.index(after: end)...]
            guard tail.isEmpty || tail.hasPrefix(":") else { throw APNsError(.badEndpoint) }
            if !tail.isEmpty { port = tail.dropFirst() }
        } else if let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        }
        guard port.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(port)
        else { throw APNsError(.badEndpoint) }
        return (host, number)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
