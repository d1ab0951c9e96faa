import AnswerShapes
import GatewayHTTP
import Model
import Store

/// `after` of a list of messages: the last message that was searched, and for a search a digest of its filters, so that it continues no other search.
struct MessageCursor: Sendable, Hashable {
    var message: MessageID
    /// Nil: a position in the list of all messages.
    var digest: String?

    /// The end of a page of a filter.
    init(_ message: MessageID, of filter: MessageFilter, _ identifiers: any IdentifierSource) {
        self.message = message
        digest = Self.digest(filter, identifiers)
    }

    /// Nil for a text that is not a cursor.
    init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let message = MessageID(text: String(first)) else { return nil }
        self.message = message
        digest = parts.count == 2 ? String(parts[1]) : nil
    }

    var text: String { digest.map { "\(message).\($0)" } ?? message.description }

    /// Whether it continues a search with the filter.
    func continues(_ filter: MessageFilter, _ identifiers: any IdentifierSource) -> Bool {
        digest == Self.digest(filter, identifiers)
    }

    private static func digest(_ filter: MessageFilter, _ identifiers: any IdentifierSource) -> String? {
        guard !filter.isPlain else { return nil }
        let properties: [String?] = [
            filter.app?.rawValue, filter.state?.rawValue, filter.vendor?.rawValue, filter.submitter, filter.label,
            filter.from.map { "\($0.milliseconds)" }, filter.to.map { "\($0.milliseconds)" }, filter.text,
        ]
        return QueryDigest.text(properties, identifiers)
    }
}

extension InputKind where Value == MessageCursor {
    /// 64 bytes: an id, a period and a digest.
    static let messageCursor = InputKind<String>.text(64, atLeast: 1)
        .example("0198a1f0-7c00-7000-8000-000000000001").map("must be `next` of a page") { MessageCursor($0) }
}
