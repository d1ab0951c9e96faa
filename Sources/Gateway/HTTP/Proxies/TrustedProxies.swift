package import HTTPTypes
package import Model

/// The address of a client, and whether it is known.
package struct ClientAddress: Sendable, Hashable {
    /// As text, for logs, limits and lists of addresses. Nil: the connection has no address.
    package var text: String?
    /// False: the call came through a trusted proxy that did not name its client, so `text` is the proxy's own address and proves nothing.
    package var isKnown: Bool

    package init(text: String?, isKnown: Bool) {
        self.text = text
        self.isKnown = isKnown
    }

    /// The address as a proof. Nil: it is unknown, or it proves nothing.
    package var proven: IPAddress? { isKnown ? text.flatMap { IPAddress($0) } : nil }
}

/// Finds the address of the client of a call that came through proxies (`trusted.proxies`).
///
/// Proxies append to `X-Forwarded-For` or `Forwarded` the address that connected to them, so the headers are read from the right: the first address that
/// is not a trusted proxy is the client. Everything to the left of it was written by the client and is ignored.
package struct TrustedProxies: Sendable, Hashable {
    /// 4 KiB of header: the addresses of more than 64 proxies. Longer values count as malformed.
    package static let headerBytes = 4 << 10

    private let networks: [AddressRange]

    /// Without networks, the headers are ignored.
    package init(_ networks: [AddressRange] = []) { self.networks = networks }

    /// - Parameters:
    ///   - peer: the address of the connection.
    ///   - headers: the headers of the call.
    /// - Returns: the client's address; the peer's for a malformed, missing or contradictory header.
    package func client(peer: String?, headers: HTTPFields) -> ClientAddress {
        guard let address = peer.flatMap({ IPAddress($0)?.unmapped }) else {
            return ClientAddress(text: peer, isKnown: false)
        }
        // The text of an IPv4 address is the one that was read, unless it was in the form of an IPv6 address.
        guard isTrusted(address) else {
            let isItsText = address.isV4 && peer?.hasByte(UInt8(ascii: ":")) == false
            return ClientAddress(text: isItsText ? peer : address.description, isKnown: true)
        }
        guard let client = forwarded(headers) else { return ClientAddress(text: address.description, isKnown: false) }
        return ClientAddress(text: client.description, isKnown: true)
    }

    /// Whether the address of a connection is that of a trusted proxy.
    package func isTrusted(peer: String?) -> Bool { peer.flatMap { IPAddress($0)?.unmapped }.map(isTrusted) ?? false }

    private func isTrusted(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    private static let plainName = HTTPField.Name("X-Forwarded-For")
    private static let standardName = HTTPField.Name("Forwarded")

    /// Nil: neither header names the client, one is malformed, or they contradict each other. A proxy writes one of the two; the other one may be the
    /// client's own.
    private func forwarded(_ headers: HTTPFields) -> IPAddress? {
        let plain = Self.text(Self.plainName, headers)
        let standard = Self.text(Self.standardName, headers)
        let clients = [
            plain.map { client(ForwardedHeader.addresses(plain: $0)) },
            standard.map { client(ForwardedHeader.addresses(standard: $0)) },
        ].compactMap(\.self)
        guard let first = clients.first, clients.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    /// All lines of a header, joined; nil when it is absent.
    private static func text(_ name: HTTPField.Name?, _ headers: HTTPFields) -> String? {
        guard let name else { return nil }
        let lines = headers[values: name]
        return lines.isEmpty ? nil : lines.joined(separator: ",")
    }

    /// The first address from the right that is not a trusted proxy; if all are, the leftmost. Nil when an address that is needed is malformed.
    private func client(_ addresses: [IPAddress?]) -> IPAddress? {
        for address in addresses.reversed() {
            guard let address else { return nil }
            if !isTrusted(address) { return address }
        }
        return addresses.first ?? nil
    }
}

/// Parses the headers in which proxies name their clients. Never traps on any input.
enum ForwardedHeader {
    /// The elements of `X-Forwarded-For`; nil for each that is not an address. Empty: the header is too long or empty.
    static func addresses(plain text: String) -> [IPAddress?] {
        guard text.utf8.count <= TrustedProxies.headerBytes else { return [] }
        return text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { address($0) }
    }

    /// The `for` of each element of `Forwarded` (RFC 7239); nil for each element without an address. Empty: the header is malformed, because quotation
    /// marks of the client could otherwise hide what a proxy appended.
    static func addresses(standard text: String) -> [IPAddress?] {
        guard text.utf8.count <= TrustedProxies.headerBytes else { return [] }
        var reader = Reader(bytes: Array(text.utf8))
        var out: [IPAddress?] = []
        repeat {
            guard let element = reader.element() else { return [] }
            out.append(element.flatMap { address($0[...]) })
        } while reader.skips(UInt8(ascii: ","))
        return reader.isAtEnd ? out : []
    }

    /// Parses `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:80`.
    private static func address(_ bytes: some BidirectionalCollection<UInt8>) -> IPAddress? {
        let text = String(decoding: bytes, as: UTF8.self).trimmed
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]"), isPort(text[text.index(after: end)...]) else { return nil }
            let inner = String(text[text.index(after: text.startIndex)..<end])
            return inner.contains(":") ? IPAddress(inner)?.unmapped : nil
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, parts[0].contains("."), isPort(text[parts[0].endIndex...]) {
            return IPAddress(String(parts[0]))
        }
        return IPAddress(String(text))?.unmapped
    }

    /// Whether the text is empty or a port after a colon.
    private static func isPort(_ text: Substring) -> Bool {
        if text.isEmpty { return true }
        let digits = text.dropFirst()
        return text.first == ":" && (1...5).contains(digits.utf8.count)
            && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Reads the elements of a `Forwarded` header strictly.
    private struct Reader {
        let bytes: [UInt8]
        var at = 0

        var isAtEnd: Bool { at >= bytes.count }

        /// One element: pairs separated by semicolons. Returns its `for`, `.some(nil)` without one, and nil when it is malformed.
        mutating func element() -> [UInt8]?? {
            var client: [UInt8]?
            repeat {
                skipSpaces()
                guard let name = token(), skips(UInt8(ascii: "=")), let value = quoted() ?? token() else { return nil }
                skipSpaces()
                if String(decoding: name, as: UTF8.self).lowercased() == "for" {
                    guard client == nil else { return nil }
                    client = value
                }
            } while skips(UInt8(ascii: ";"))
            return .some(client)
        }

        /// Skips one byte if it is `byte`.
        mutating func skips(_ byte: UInt8) -> Bool {
            guard at < bytes.count, bytes[at] == byte else { return false }
            at += 1
            return true
        }

        private mutating func skipSpaces() {
            while at < bytes.count, bytes[at] == 0x20 || bytes[at] == 0x09 { at += 1 }
        }

        /// At least one byte other than separators. Unlike RFC 7239, addresses without quotation marks may contain colons and brackets, as some proxies write.
        private mutating func token() -> [UInt8]? {
            let start = at
            while at < bytes.count, bytes[at] > 0x20, bytes[at] < 0x7F, !",;=\"".utf8.contains(bytes[at]) { at += 1 }
            return at > start ? Array(bytes[start..<at]) : nil
        }

        /// A quoted text without its quotation marks and escapes. Nil, without reading anything, if there is none or it does not end.
        private mutating func quoted() -> [UInt8]? {
            guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else { return nil }
            var out: [UInt8] = []
            var next = at + 1
            while next < bytes.count {
                switch bytes[next] {
                case UInt8(ascii: "\""):
                    at = next + 1
                    return out
                case UInt8(ascii: "\\"):
                    next += 1
                    guard next < bytes.count else { return nil }
                    out.append(bytes[next])
                default: out.append(bytes[next])
                }
                next += 1
            }
            return nil
        }
    }
}

extension String {
    /// Without spaces and tabs at both ends.
    fileprivate var trimmed: Substring {
        var text = self[...]
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
