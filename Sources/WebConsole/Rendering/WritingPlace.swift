package import Model
package import PageParts

/// A request for a page outside of a tenant.
package struct BareRequest: Sendable {
    package var language: Language
    package var theme: String?
    /// The page's path, `/sign-in`, with its query: where the switches of language and theme return to.
    package var path: String
    /// The name of the signed-in account; nil: nobody is signed in.
    package var account: String?
    package var now: Timestamp
    package var formToken: String
    package var onceToken: String
    package var typed = FormFields([])
    package var errors = FieldErrors([:])
    package var notice: String?
    package var secret: PageRequest.ShownSecret?

    package init(
        language: Language,
        path: String,
        now: Timestamp,
        formToken: String,
        onceToken: String = ""
    ) {
        self.language = language
        self.path = path
        self.now = now
        self.formToken = formToken
        self.onceToken = onceToken
    }
}

/// The paths outside of tenants that pages link to.
package enum ConsolePaths {
    /// Posted with `language` or `theme`, and `back`.
    package static let preferences = "/preferences"
    package static let account = "/account"
    package static let signOut = "/sign-out"

    /// The beginning of the paths of a tenant.
    package static func tenant(_ tenant: String) -> String { "/t/\(PercentCoding.encode(tenant))/" }
    /// The stream of live updates of a page: `?page=` has its path, `?query=` its query.
    package static func stream(_ tenant: String) -> String { Self.tenant(tenant) + "live/stream" }
}

/// Where and for whom something is written: language, addresses, tokens, and what was typed.
struct WritingPlace: Sendable {
    var language: Language
    /// `/t/acme/` or `/`.
    var base: String
    /// The page's path below `base`.
    var path: String
    var query: [PageRequest.Parameter]
    /// The parameters that every link keeps: app, range and zone.
    var kept: [PageRequest.Parameter]
    var format: ConsoleFormat
    /// The zone that forms return; nil outside of tenants, where no form has a time.
    var formZone: String?
    var formToken: String
    var onceToken: String
    var typed: FormFields
    var errors: FieldErrors

    init(_ request: PageRequest, path: String) {
        language = request.language
        base = ConsolePaths.tenant(request.tenant)
        self.path = path
        query = request.query
        kept = request.query.filter { ShownRange.parameters.contains($0.name) && !$0.value.isEmpty }
        format = ConsoleFormat(request)
        formZone = format.zone.text
        formToken = request.formToken
        onceToken = request.onceToken
        typed = request.typed
        errors = request.errors
    }

    init(_ request: BareRequest) {
        language = request.language
        base = "/"
        path = String(request.path.prefix { $0 != "?" }.drop { $0 == "/" })
        query = []
        kept = []
        format = ConsoleFormat(request.language, zone: TimeZoneName.utc.text, now: request.now)
        formToken = request.formToken
        onceToken = request.onceToken
        typed = request.typed
        errors = request.errors
    }

    func text(_ text: Text) -> String { text(language) }

    // MARK: Addresses

    func href(_ link: Link) -> String { href(link.path, link.query) }

    /// An address below `base`. The parameters that links keep are added, unless the query has them; one with an empty value is left out.
    func href(_ path: String, _ query: [PageRequest.Parameter] = []) -> String {
        let added = kept.filter { kept in !query.contains { $0.name == kept.name } }
        return action(path) + Self.text(of: query + added)
    }

    /// The address of a form.
    func action(_ path: String) -> String { base + Self.clean(path) }

    /// This page with some parameters changed. A list that is filtered or sorted anew begins at its first page.
    func href(changing changes: [PageRequest.Parameter]) -> String {
        let names = Set(changes.map(\.name) + ["after", "updates"])
        return action(path) + Self.text(of: query.filter { !names.contains($0.name) } + changes)
    }

    /// The query with the zone of the page, for answers that do not look for that of the app.
    var zonedQuery: [PageRequest.Parameter] {
        query.filter { $0.name != "zone" } + [PageRequest.Parameter("zone", format.zone.text)]
    }

    /// This page as it is.
    var here: String { action(path) + Self.text(of: query) }

    static func text(of query: [PageRequest.Parameter]) -> String {
        let pairs = query.filter { !$0.value.isEmpty }.map(\.coded)
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }

    /// A path of coded segments. Any other byte than those of a path is coded, so that a path stays one.
    static func clean(_ path: String) -> String {
        var bytes: [UInt8] = []
        for byte in path.utf8.drop(while: { $0 == UInt8(ascii: "/") }) {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, UInt8(ascii: "/"), UInt8(ascii: "%"):
                bytes.append(byte)
            default:  // any other byte is coded
                bytes += [UInt8(ascii: "%"), HexCoding.digit(byte >> 4), HexCoding.digit(byte & 15)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
