import Model
import PageParts

/// Finds the page, and the form, of a path below a tenant.
struct PageMatch: Sendable {
    var page: any ConsolePage
    /// Nil: the page itself.
    var form: FormName?
    /// The fields of the page's path, decoded.
    var fields: [String: String]
    /// The page's path with its values, percent-coded.
    var path: String

    /// The end of a form's address.
    enum FormName: Sendable {
        case own(any ConsoleForm)
        /// Shows the masked data of the page once.
        case reveal
    }

    static let revealName = "reveal"

    /// - Parameters:
    ///   - segments: the segments below the tenant, decoded.
    ///   - pages: all pages.
    ///   - isPost: whether a form is sent.
    init?(_ segments: [String], _ pages: [any ConsolePage], isPost: Bool) {
        if isPost {
            guard let sent = Self.sent(segments, pages) else { return nil }
            page = sent.page
            form = sent.form
            fields = sent.fields
            path = Self.coded(sent.segments[...])
        } else {
            guard let found = Self.found(segments, pages) else { return nil }
            page = found.page
            fields = found.fields
            path = Self.coded(segments[...])
        }
    }

    private struct Sent {
        var page: any ConsolePage
        var form: FormName
        var fields: [String: String]
        var segments: [String]
    }

    /// The form of an address: the page's and the form's name. The search box of all pages posts to the page of the search itself.
    private static func sent(_ segments: [String], _ pages: [any ConsolePage]) -> Sent? {
        if let own = found(segments, pages), let form = own.page.forms.first(where: { $0.name == searchName }) {
            return Sent(page: own.page, form: .own(form), fields: own.fields, segments: segments)
        }
        let rest = Array(segments.dropLast())
        guard let name = segments.last, let above = found(rest, pages) else { return nil }
        if let form = above.page.forms.first(where: { $0.name == name }) {
            return Sent(page: above.page, form: .own(form), fields: above.fields, segments: rest)
        }
        guard name == revealName else { return nil }
        return Sent(page: above.page, form: .reveal, fields: above.fields, segments: rest)
    }

    private static let searchName = "search"

    private static func coded(_ segments: ArraySlice<String>) -> String {
        segments.map { PercentCoding.encode($0) }.joined(separator: "/")
    }

    private struct Found {
        var page: any ConsolePage
        var fields: [String: String]
    }

    /// The page whose path fits; of several, that with the fewest fields: `messages/new` before `messages/{message}`.
    private static func found(_ segments: [String], _ pages: [any ConsolePage]) -> Found? {
        var best: Found?
        for page in pages {
            guard let fields = fields(segments, page.path) else { continue }
            if let best, best.fields.count <= fields.count { continue }
            best = Found(page: page, fields: fields)
        }
        return best
    }

    private static func fields(_ segments: [String], _ path: String) -> [String: String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count == segments.count else { return nil }
        var fields: [String: String] = [:]
        for (part, segment) in zip(parts, segments) {
            if part.hasPrefix("{"), part.hasSuffix("}") {
                guard segment.count <= 1000 else { return nil }
                fields[String(part.dropFirst().dropLast())] = segment
            } else if part != segment {
                return nil
            }
        }
        return fields
    }

    /// The segments of a path below `/t/{tenant}/`. Nil: it is not one. A tenant alone, without the last slash, is nil too.
    static func segments(_ path: String) -> (tenant: String, rest: [String])? {
        guard path.utf8.count <= 4000 else { return nil }
        let parts = path.dropFirst("/t/".count).split(separator: "/", maxSplits: 16, omittingEmptySubsequences: false)
        guard parts.count >= 2, let tenant = PercentCoding.decode(parts[0].utf8, plusIsSpace: false), !tenant.isEmpty
        else { return nil }
        var rest: [String] = []
        for (index, part) in parts.dropFirst().enumerated() {
            guard let text = PercentCoding.decode(part.utf8, plusIsSpace: false) else { return nil }
            // Only the overview's path ends with a slash.
            if text.isEmpty, index == 0, parts.count == 2 { return (tenant, []) }
            guard !text.isEmpty, text != ".", text != "..", !text.utf8.contains(0) else { return nil }
            rest.append(text)
        }
        return (tenant, rest)
    }
}
