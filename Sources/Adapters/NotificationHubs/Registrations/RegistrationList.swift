import Model

/// A list of registrations, including those of installations: all, of one channel, or with one tag (docs/contracts/notificationhubs.md#5.5).
struct RegistrationList {
    private let request: VendorRequest
    /// Nil: the list is not restricted to a tag.
    private let tag: String?

    init(_ request: VendorRequest, tag: String?) {
        self.request = request
        self.tag = tag
    }

    /// The start of a page: an identity, and the number of its entries that have been shown.
    private struct PagePosition {
        var key: VendorDeviceKey
        var shown: Int
    }

    /// Whether the call requests only the registrations of one channel.
    static func isFiltered(_ request: VendorRequest) -> Bool { parameter("$filter", of: request) != nil }

    /// The number of filters in the query. Every parameter counts, because another server may read another one of several filters.
    static func filterCount(_ request: VendorRequest) -> Int {
        (request.query ?? "").split(separator: "&").count { pair in
            decoded(pair.prefix { $0 != "=" }).lowercased() == "$filter"
        }
    }

    /// - Throws: `AdapterError` with the text of the answer.
    func command() throws(AdapterError) -> Command {
        .registration(.listed(try filter(), from: try place()?.key, limit: try top() + 1))
    }

    private static func fault(_ text: String) -> AdapterError { AdapterError(.invalid, field: text) }

    private static func parameter(_ name: String, of request: VendorRequest) -> String? {
        for pair in (request.query ?? "").split(separator: "&").prefix(HubsLimits.parameterCount) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard decoded(parts[0]).lowercased() == name else { continue }
            return parts.count > 1 ? decoded(parts[1]) : ""
        }
        return nil
    }

    /// .NET writes a space as a plus.
    private static func decoded(_ text: Substring) -> String {
        PercentCoding.decode(text.utf8, plusIsSpace: true) ?? ""
    }

    private func filter() throws(AdapterError) -> IdentityFilter {
        if let tag {
            guard let tag = Tag(tag) else { throw Self.fault("The tag is not valid") }
            return .tag(tag)
        }
        guard let text = Self.parameter("$filter", of: request) else { return .all }
        guard let (field, value) = Self.comparison(text) else { throw Self.fault("The filter is not valid") }
        switch field.lowercased() {
        case "channeluri", "devicetoken":
            if let token = DeviceToken(apns: value) ?? DeviceToken(fcm: value) { return .token(token) }
        case "gcmregistrationid": if let token = DeviceToken(fcm: value) { return .token(token) }
        default: break  // no other field is supported
        }
        throw Self.fault("The filter is not valid")
    }

    /// `field eq 'value'`; a quote inside the value is doubled.
    private static func comparison(_ text: String) -> (field: String, value: String)? {
        guard let quote = text.firstIndex(of: "'"), text.hasSuffix("'"), text.index(after: quote) < text.endIndex else {
            return nil
        }
        let head = text[..<quote].split(separator: " ")
        guard head.count == 2, head[1].lowercased() == "eq" else { return nil }
        let inner = text[text.index(after: quote)...].dropLast()
        guard !inner.replacing("''", with: "").contains("'") else { return nil }
        return (String(head[0]), String(inner).replacing("''", with: "'"))
    }

    /// The number of entries on a page. Assumed: a higher number than a hundred is reduced to a hundred.
    private func top() throws(AdapterError) -> Int {
        guard let text = Self.parameter("$top", of: request) else { return HubsLimits.pageCount }
        guard let number = Int(text), number > 0 else { throw Self.fault("The value of $top is not valid") }
        return min(number, HubsLimits.pageCount)
    }

    /// `{hex of the key}.{number of its entries already shown}`.
    private func place() throws(AdapterError) -> PagePosition? {
        guard let text = Self.parameter("continuationtoken", of: request), !text.isEmpty else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, text.utf8.count <= HubsLimits.pathBytes, let bytes = HexCoding.decode(String(parts[0])),
            let key = String(validating: bytes, as: UTF8.self), let shown = Int(parts[1]), shown >= 0
        else { throw Self.fault("The continuation token is not valid") }
        return PagePosition(key: VendorDeviceKey(key), shown: shown)
    }

    private static func text(_ place: PagePosition) -> String {
        "\(HexCoding.encode(Array(place.key.rawValue.utf8))).\(place.shown)"
    }

    // MARK: The answer

    /// The feed, and the start of the next page; nil: this was the last page.
    ///
    /// - Throws: the errors of `command`.
    func feed(of found: [ListedIdentity], hub: String, address: String) throws(AdapterError) -> (String, String?) {
        let top = try top()
        let from = try place()
        let wanted = tag.flatMap { Tag($0) }
        var entries = ""
        var count = 0
        var next: PagePosition?
        for row in found {
            let own = registrations(row).enumerated().filter { _, registration in
                wanted.map { wanted in registration.tags.contains { Tag($0) == wanted } } ?? true
            }
            for (index, registration) in own where next == nil && !(row.key == from?.key && index < from?.shown ?? 0) {
                if count == top {
                    next = PagePosition(key: row.key, shown: index)
                } else {
                    let place = "\(address)/\(hub)/registrations/\(registration.id)\(version)"
                    entries += registration.entry(at: place, isAlone: false)
                    count += 1
                }
            }
            if next != nil { break }
        }
        // A full page of identities, some of which had no entries: the next page starts after the last one.
        if next == nil, found.count > top, let last = found.last {
            next = PagePosition(key: last.key, shown: registrations(last).count)
        }
        return (document(entries, next, address), next.map { Self.text($0) })
    }

    private func registrations(_ row: ListedIdentity) -> [Registration] {
        if DirectHandle.isKey(row.key) { return [] }
        if let id = Registration.id(row.key) { return Registration(id: id, row.standing).map { [$0] } ?? [] }
        guard let installation = Installation(id: row.key.rawValue, row.standing, at: request.receivedAt) else {
            return []
        }
        // Assumed: the time of the answer, because the time when an installation was written is not stored.
        return Registration.all(of: installation, updatedAt: request.receivedAt)
    }

    private var version: String { APIVersion.named(request).map { "?api-version=\($0)" } ?? "" }

    private func document(_ entries: String, _ next: PagePosition?, _ address: String) -> String {
        let place = "\(address)\(request.path)"
        let own = "\(place)\(request.query.map { "?\($0)" } ?? "")"
        var text =
            "<feed xmlns=\"\(Registration.atom)\"><title type=\"text\">Registrations</title><id>\(XMLText.escape(own))</id>"
            + "<updated>\(HubTime.iso(request.receivedAt))</updated><link rel=\"self\" href=\"\(XMLText.attribute(own))\"/>"
        if let next {
            let kept = (request.query ?? "").split(separator: "&").filter {
                !Self.decoded($0.prefix { $0 != "=" }).lowercased().hasPrefix("continuationtoken")
            }
            let query = (kept.map { $0.replacing("$", with: "%24") } + ["continuationtoken=\(Self.text(next))"])
                .joined(separator: "&")
            text += "<link rel=\"next\" href=\"\(XMLText.attribute("\(place)?\(query)"))\"/>"
        }
        return text + entries + "</feed>"
    }
}
