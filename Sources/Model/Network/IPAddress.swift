/// An IPv4 or IPv6 address as bytes, parsed strictly: whoever judges an address and whoever connects to it must never interpret a text differently.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// 4 or 16 bytes, network order.
    package let bytes: [UInt8]

    /// Parses `text`: four decimal numbers without leading zeros, or RFC 4291 text without a zone. Nil for any other text.
    package init?(_ text: String) {
        guard let bytes = text.hasByte(UInt8(ascii: ":")) ? Self.v6(text) : Self.v4(text) else { return nil }
        self.bytes = bytes
    }

    /// 4 or 16 bytes in network order; nil for another number.
    package init?(networkOrder bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    package var isV4: Bool { bytes.count == 4 }

    /// The IPv4 address that an IPv4-mapped IPv6 address contains, as a listener for both families reports IPv4 peers; any other address itself.
    package var unmapped: IPAddress {
        guard bytes.count == 16, bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF else {
            return self
        }
        return IPAddress(networkOrder: bytes.suffix(4)) ?? self
    }

    package var description: String {
        if isV4 { return "\(bytes[0]).\(bytes[1]).\(bytes[2]).\(bytes[3])" }
        let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        return groups.map { String($0, radix: 16) }.joined(separator: ":")
    }

    private static func v4(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4)
        // The number so far; nil: none of its digits has been read.
        var number: Int?
        for byte in text.utf8 {
            switch byte {
            case 0x2E:
                guard let value = number, bytes.count < 3 else { return nil }
                bytes.append(UInt8(value))
                number = nil
            case 0x30...0x39:
                // No digit may follow a leading zero.
                guard number != 0 else { return nil }
                let value = (number ?? 0) * 10 + Int(byte - 0x30)
                guard value <= 255 else { return nil }
                number = value
            default: return nil
            }
        }
        guard let value = number, bytes.count == 3 else { return nil }
        bytes.append(UInt8(value))
        return bytes
    }

    private static func v6(_ text: some StringProtocol) -> [UInt8]? {
        let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        switch halves.count {
        case 1:
            guard let bytes = groups(halves[0], endsText: true), bytes.count == 16 else { return nil }
            return bytes
        case 2:
            // `::` stands for at least one group of zeros.
            guard let head = groups(halves[0], endsText: false), let tail = groups(halves[1], endsText: true),
                head.count + tail.count <= 14
            else {
                return nil
            }
            return head + Array(repeating: 0, count: 16 - head.count - tail.count) + tail
        default: return nil
        }
    }

    /// The bytes of colon-separated groups; if they end the address, the last group may be IPv4 text. An empty text has no groups.
    private static func groups(_ text: some StringProtocol, endsText: Bool) -> [UInt8]? {
        if text.isEmpty { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if endsText, index == parts.count - 1, part.contains(".") {
                guard let tail = v4(part) else { return nil }
                bytes += tail
            } else {
                guard (1...4).contains(part.utf8.count), part.allSatisfy(\.isHexDigit), part.allSatisfy(\.isASCII),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
            }
        }
        return bytes.count <= 16 ? bytes : nil
    }
}
