import Model
import PageParts

/// Everything on which the parts of an open page depend, besides the time and the data. Viewers with equal keys get the same bytes.
struct PageKey: Hashable, Sendable {
    /// The people who see the same.
    enum Person: Hashable, Sendable {
        case anyone
        /// The tabs of one account. An author has rights on own messages.
        case account(String)
        /// One stream: its parts have forms, which carry the tokens of one page.
        case stream(String)
    }

    var tenant: TenantID
    /// With its values, percent-coded: it names the page and the fields of its path.
    var path: String
    /// Percent-coded, too: texts that Swift holds for equal may have other bytes, such as composed and decomposed Hangul, and the store compares bytes.
    var query: String
    var language: Language
    var zone: String
    /// The rights of the account, from which masking follows too.
    var role: Role
    var isMember: Bool
    var isPlatform: Bool
    var person: Person

    init(_ caller: ConsoleCaller, _ match: PageMatch, _ request: PageRequest) {
        tenant = caller.tenant
        path = match.path
        query = request.query.map(\.coded).joined(separator: "&")
        language = request.language
        zone = request.zone
        role = caller.account.role
        isMember = caller.isMember
        isPlatform = caller.account.isPlatform
        person = match.page.sharing == .page ? Self.people(like: caller.account) : .stream(request.onceToken)
    }

    private static func people(like account: ConsoleAccount) -> Person {
        account.role == .author ? .account(account.name) : .anyone
    }

    /// The key of the answers behind the page, which do not depend on its tokens.
    func ofAnswers(for account: ConsoleAccount) -> PageKey {
        var key = self
        key.person = Self.people(like: account)
        return key
    }

    /// The request with which the page is written. That of a page that others see too has only what is in the key: no token and no name gets from one person to
    /// another.
    ///
    /// - Parameters:
    ///   - own: the request of the viewer.
    ///   - now: the time.
    /// - Returns: the request.
    func request(_ own: PageRequest, at now: Timestamp) -> PageRequest {
        var page = own
        page.now = now
        var name = ""
        switch person {
        case .stream: return page
        case .account(let account): name = account
        case .anyone: break
        }
        page = PageRequest(
            language: language,
            tenant: tenant.rawValue,
            account: ConsoleAccount(name: name, role: role, isPlatform: isPlatform),
            now: now,
            zone: zone,
            formToken: "",
            onceToken: ""
        )
        page.path = own.path
        page.query = own.query
        return page
    }
}
