/// A name that identities have and audiences select, in the form in which it is compared: lower case, except the value of a system tag.
///
/// System tags are `$UserId:{value}` and `$InstallationId:{value}`. The braces may be omitted (docs/contracts/notificationhubs.md#6) and are not stored.
package struct Tag: Sendable, Hashable, CustomStringConvertible {
    /// 120 characters: docs/contracts/notificationhubs.md#5.
    package static let limit = 120

    /// The folded form, which is stored.
    package let text: String

    /// Returns nil when the text is empty, too long, or has a character that tags must not contain.
    package init?(_ written: some StringProtocol) {
        guard let text = Self.folded(String(written)) else { return nil }
        self.text = text
    }

    /// The tag that the gateway itself gives an identity, so that an audience can be restricted to a platform. Callers cannot set it.
    package init(_ platform: Platform) { text = "$Platform:\(platform.rawValue)" }

    /// Whether the tag is a system tag.
    package var isSystem: Bool { text.hasPrefix("$") }

    package var description: String { text }

    private static func folded(_ written: String) -> String? {
        guard written.hasPrefix("$") else { return plain(written)?.lowercased() }
        let parts = written.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = systemNames[parts[0].lowercased()] else { return nil }
        var value = parts[1]
        if value.hasPrefix("{"), value.hasSuffix("}"), value.utf8.count >= 2 { value = value.dropFirst().dropLast() }
        return plain(String(value), and: "=").map { "\(name):\($0)" }
    }

    private static let systemNames = ["$userid": "$UserId", "$installationid": "$InstallationId"]

    private static func plain(_ text: String, and extra: Unicode.Scalar? = nil) -> String? {
        guard !text.isEmpty, text.unicodeScalars.count <= limit else { return nil }
        return text.unicodeScalars.allSatisfy({ isPlain($0) || $0 == extra }) ? text : nil
    }

    /// Whether the scalar is a letter or digit of any script, or one of `_ - @ # . :`.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "0"..."9", "A"..."Z", "a"..."z", "_", "-", "@", "#", ".", ":": return true
        default: break
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .nonspacingMark, .spacingMark:
            return true
        default: return false
        }
    }
}
