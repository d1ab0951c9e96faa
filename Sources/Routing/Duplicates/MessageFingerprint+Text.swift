import Crypto
import Foundation
package import Model

extension MessageFingerprint {
    /// Eight bytes: two different texts of one app inside one window do not collide by chance.
    private static let length = 8

    /// The digest of a message that `duplicateGuard` compares: title, body and links. Nil: the message shows no text.
    ///
    /// Texts count as equal if they differ only in how Unicode composes their characters, and in the kind and number of blanks.
    ///
    /// - Parameters:
    ///   - content: as every dialect can show it (`NormalizedContent`).
    ///   - further: members of the vendor's own format that may be links.
    package init?(of content: Content, further: JSONObject = JSONObject()) {
        let (title, body) = (Self.text(content.title ?? ""), Self.text(content.body))
        if content.isSilent || content.activity != nil || title.isEmpty && body.isEmpty { return nil }
        var links: Set<String> = []
        for (_, value) in content.data.pairs + further.pairs {
            if let link = value.string, Self.isLink(link) { links.insert(link) }
        }
        var hash = SHA256()
        for part in [title, body] + links.sorted() {
            hash.update(data: Array(part.utf8))
            hash.update(data: [0])
        }
        self.init(bytes: Array(hash.finalize().prefix(Self.length)))
    }

    private static func text(_ text: String) -> String {
        text.precomposedStringWithCanonicalMapping.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Whether a value is an address as a whole: `https://…`, `shop://cart`.
    private static func isLink(_ text: String) -> Bool {
        guard let separator = text.firstRange(of: "://"), !text.contains(where: \.isWhitespace) else { return false }
        let scheme = text[..<separator.lowerBound]
        return scheme.first?.isLetter ?? false && scheme.allSatisfy { $0.isLetter || $0.isNumber || "+-.".contains($0) }
    }
}
