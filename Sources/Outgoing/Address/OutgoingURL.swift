import FoundationEssentials
import Model

/// The URL of an outgoing call, parsed and written again so that no later parser finds another host in it.
package struct OutgoingURL: Sendable, Hashable {
    /// Lower-case name, or an address without brackets.
    package let host: String
    /// Whether the call uses TLS.
    package let isSecure: Bool
    /// Scheme, host and port: `https://push.example.com:8443`.
    package let origin: String
    /// Path and query, without fragment; begins with a slash.
    package let target: String

    /// The URL of the request.
    package var url: String { origin + target }

    /// Nil for anything except http and https with a plain ASCII host: user names, escapes and unusual characters make parsers disagree.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }),
            let scheme = ["https", "http"].first(where: { text.lowercased().hasPrefix($0 + "://") })
        else { return nil }
        let rest = text.dropFirst(scheme.count + 3)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let (host, port) = Self.split(authority), Self.isPlain(host) else { return nil }
        let spelled = host.contains(":") ? "[\(host)]" : host
        let path = rest.dropFirst(authority.count).prefix { $0 != "#" }
        let origin = "\(scheme)://\(spelled)\(port.map { ":\($0)" } ?? "")"
        let target = "\(path.hasPrefix("/") ? "" : "/")\(path)"
        // The client parses the text again with this type: both must see the same host.
        guard let parsed = URL(string: origin + target)?.host, parsed == host || parsed == spelled else { return nil }
        self.host = host
        self.isSecure = scheme == "https"
        self.origin = origin
        self.target = target
    }

    private static func split(_ authority: Substring) -> (host: String, port: UInt16?)? {
        var host = authority
        var port: Substring?
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            let rest = authority[authority.index(after: end)...]
            guard IPAddress(String(host))?.isV4 == false, rest.isEmpty || rest.hasPrefix(":") else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        guard let port else { return (host.lowercased(), nil) }
        guard port.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = UInt16(port), number > 0 else {
            return nil
        }
        return (host.lowercased(), number)
    }

    private static func isPlain(_ host: String) -> Bool {
        if host.contains(":") { return true }
        // 253 bytes: the longest name in DNS.
        return !host.isEmpty && host.utf8.count <= 253
            && host.utf8.allSatisfy { byte in
                byte >= 0x61 && byte <= 0x7A || byte >= 0x30 && byte <= 0x39 || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
            }
    }
}
