import AccountStore
import Crypto
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import PageParts

/// One request of a browser, with what its headers say about the person.
struct ConsoleRequest: Sendable {
    var request: Request
    var context: CallContext
    /// `https://console.example`.
    var origin: String
    var language: Language
    /// Nil: that of the system.
    var theme: String?
    var now: Timestamp
    /// The value of the session's cookie, if it can be one.
    var secret: String?
    /// The time that the answer takes.
    let timing = PageTiming()

    init(_ request: Request, _ context: CallContext, origin: String, now: Timestamp) {
        self.request = request
        self.context = context
        self.origin = origin
        self.now = now
        let headers = request.headers
        language =
            ConsoleCookies.value(ConsoleCookies.language, in: headers).flatMap { Language(rawValue: $0) }
            ?? Self.language(headers[.acceptLanguage])
        theme = ConsoleCookies.value(ConsoleCookies.theme, in: headers).flatMap { Self.themes.contains($0) ? $0 : nil }
        secret = ConsoleCookies.value(ConsoleCookies.session, in: headers)
            .flatMap { InvitationLink.isSecret($0) ? $0 : nil }
    }

    static let themes: Set<String> = ["light", "dark"]

    /// Korean if the browser prefers it, otherwise English.
    private static func language(_ header: String?) -> Language {
        for part in (header ?? "").split(separator: ",", maxSplits: 16) {
            let tag = part.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
            if tag.hasPrefix("ko") { return .ko }
            if tag.hasPrefix("en") { return .en }
        }
        return .en
    }

    var path: String { request.uri.path }
    var isRead: Bool { request.method == .get || request.method == .head }
    /// The digest of the session, as the store knows it.
    var hash: [UInt8]? { secret.map { Array(SHA256.hash(data: Array($0.utf8))) } }
    var formToken: String { secret.map { FormToken.of(session: $0) } ?? "" }
    var requestID: String { CallID.current?.description ?? "" }
    var isFromOwnPage: Bool { RequestOrigin.isOwn(request.headers, authority: request.head.authority) }

    /// The query in its order, decoded.
    var query: [PageRequest.Parameter] { Self.parameters(request.uri.query ?? "") }

    /// The parameters of a query, decoded: at most 64 of 1,000 characters. Those that cannot be decoded are left out.
    static func parameters(_ query: String) -> [PageRequest.Parameter] {
        query.split(separator: "&", maxSplits: 64, omittingEmptySubsequences: true).prefix(64).compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentCoding.decode(parts[0].utf8, plusIsSpace: true), !name.isEmpty else { return nil }
            let value = parts.count == 2 ? PercentCoding.decode(parts[1].utf8, plusIsSpace: true) : ""
            return value.map { PageRequest.Parameter(String(name.prefix(64)), String($0.prefix(1000))) }
        }
    }

    /// A path of this console to which a person returns; anything else is the beginning.
    static func safePath(_ text: String?) -> String {
        guard let text, text.hasPrefix("/"), !text.hasPrefix("//"), text.utf8.count <= 4000,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { return "/" }
        return text
    }
}
