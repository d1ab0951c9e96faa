/// A range of addresses with a common prefix, in CIDR notation: `10.0.0.0/8`, `fd00::/8`.
package struct AddressRange: Sendable, Hashable, CustomStringConvertible {
    package let address: IPAddress
    /// 0...32 or 0...128.
    package let prefixLength: Int

    /// Parses the range in `text`; without a length, it is a single address. Nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        let bits = address.bytes.count * 8
        let length = parts.count == 2 ? Int(parts[1]) : bits
        guard let length, (0...bits).contains(length) else { return nil }
        self.address = address
        self.prefixLength = length
    }

    /// Whether `other` belongs to the same family and has the prefix.
    package func contains(_ other: IPAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        let whole = prefixLength / 8
        guard other.bytes.prefix(whole) == address.bytes.prefix(whole) else { return false }
        let rest = prefixLength % 8
        guard rest > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> rest)
        return other.bytes[whole] & mask == address.bytes[whole] & mask
    }

    /// Whether every address of `other` belongs to this range.
    package func contains(_ other: AddressRange) -> Bool {
        prefixLength <= other.prefixLength && contains(other.address)
    }

    package var description: String { "\(address)/\(prefixLength)" }
}
