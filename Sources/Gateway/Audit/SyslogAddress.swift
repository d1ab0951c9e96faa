/// A collector of syslog messages: `tcp://host:514`, `tls://host:6514` or `unix:/dev/log`.
package enum SyslogAddress: Sendable, Hashable, CustomStringConvertible {
    /// RFC 5424 messages with octet counting (RFC 6587); with TLS: RFC 5425.
    case stream(host: String, port: Int, isEncrypted: Bool)
    /// One datagram per message, to a socket of this machine.
    case datagram(path: String)

    /// Nil: the text is not an address.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            // The system's limit of such a path.
            guard path.hasPrefix("/"), path.utf8.count < 108 else { return nil }
            self = .datagram(path: path)
            return
        }
        let isEncrypted = text.hasPrefix("tls://")
        guard isEncrypted || text.hasPrefix("tcp://") else { return nil }
        let place = text.dropFirst(6)
        guard let colon = place.lastIndex(of: ":"), let port = Int(place[place.index(after: colon)...]),
            (1...65535).contains(port)
        else { return nil }
        var host = String(place[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard !host.isEmpty, !host.contains(where: { $0 == "/" || $0 == "@" || $0 == "[" || $0 == "]" }) else {
            return nil
        }
        self = .stream(host: host, port: port, isEncrypted: isEncrypted)
    }

    package var description: String {
        switch self {
        case .stream(let host, let port, let isEncrypted):
            "\(isEncrypted ? "tls" : "tcp")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .datagram(let path): "unix:\(path)"
        }
    }
}
