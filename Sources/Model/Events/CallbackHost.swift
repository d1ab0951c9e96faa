/// The host of a URL to call, as far as its spelling decides.
package enum CallbackHost {
    /// Whether resolvers read the host as an IPv4 address although it is not written as four decimal numbers: `127.1`, `0x7f.1`, `2130706433`, `010.0.0.1`.
    ///
    /// The rule is that of the URL standard (WHATWG, "ends in a number"): the last part is a number. Such an address is refused when it is stored, because a
    /// person who reads it does not see where it leads.
    package static func isObscureAddress(_ host: some StringProtocol) -> Bool {
        var parts = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        let endsInDot = parts.count > 1 && parts.last?.isEmpty == true
        if endsInDot { parts.removeLast() }
        guard let last = parts.last, isNumber(last) else { return false }
        return endsInDot || parts.count != 4 || !parts.allSatisfy(isDecimal)
    }

    private static func isNumber(_ part: Substring) -> Bool {
        guard !part.hasPrefix("0x") else { return part.dropFirst(2).allSatisfy(\.isHexDigit) }
        return !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// 0 to 255 without leading zeros, which some resolvers read as octal.
    private static func isDecimal(_ part: Substring) -> Bool {
        guard let number = UInt8(part), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
        return String(number) == part
    }
}
