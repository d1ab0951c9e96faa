package import Model

/// A language of the console.
package enum Language: String, Sendable, Hashable, CaseIterable { case ko, en }

/// A text in both languages, side by side, so that a missing translation does not compile.
package struct Text: Sendable, Hashable {
    package var ko: String
    package var en: String

    package init(ko: String, en: String) {
        self.ko = ko
        self.en = en
    }

    package func callAsFunction(_ language: Language) -> String { language == .ko ? ko : en }
}

/// The role of an account in a tenant.
package enum Role: String, Sendable, Hashable, CaseIterable { case owner, op = "operator", author, analyst, auditor }

/// The permission that a page or form asks for. This is the one place that says which roles have it.
package enum Permission: Sendable, Hashable, CaseIterable {
    /// Figures, messages, failures.
    case figures
    /// Names, phones, keys, inboxes; without it they are masked.
    case personal
    /// Send, test, templates, groups.
    case send
    /// Pause, cancel, requeue, device preferences, erasing. An author may do so with own messages.
    case operate
    /// Apps, bindings, credentials, webhooks, captures, routes, migrations.
    case configure
    /// API keys, accounts, retention, approvals.
    case administer
    case audit
    /// Nodes and queues: `owner` and `operator` of a tenant, and accounts with the platform right.
    case platform

    package var roles: Set<Role> {
        switch self {
        case .figures: Set(Role.allCases)
        case .personal, .operate, .configure, .platform: [.owner, .op]
        case .send: [.owner, .op, .author]
        case .administer: [.owner]
        case .audit: [.owner, .auditor]
        }
    }
}

/// The signed-in account, in the tenant of the address.
package struct ConsoleAccount: Sendable, Hashable {
    package var name: String
    package var role: Role
    /// Whether it may see nodes, queues and the names of all tenants.
    package var isPlatform: Bool
    /// The tenants that it may open.
    package var tenants: [String]

    package init(name: String, role: Role, isPlatform: Bool = false, tenants: [String] = []) {
        self.name = name
        self.role = role
        self.isPlatform = isPlatform
        self.tenants = tenants
    }

    package func may(_ permission: Permission) -> Bool {
        permission.roles.contains(role) || (permission == .platform && isPlatform)
    }
}

/// A request for a page.
package struct PageRequest: Sendable {
    package var language: Language
    /// `light`, `dark`, or nil: that of the system.
    package var theme: String?
    package var tenant: String
    /// The fields of the page's path by name, decoded: at most 1,000 characters each.
    package var path: [String: String]
    /// The query in its order, decoded.
    package var query: [Parameter]
    package var account: ConsoleAccount
    /// The database's time.
    package var now: Timestamp
    /// An IANA name.
    package var zone: String
    /// The token that every form of this session carries.
    package var formToken: String
    /// A fresh value for each page: the idempotency key of what is sent from it, so that a double click or Back sends once.
    package var onceToken: String
    /// The fields that a form of this page was sent with, when the page is shown again because of errors or to confirm; empty otherwise.
    package var typed: FormFields
    package var errors: FieldErrors
    /// A notice of the form that led here.
    package var notice: String?
    /// Whether personal data was revealed for this page.
    package var isRevealed: Bool
    /// A secret that the form which led here made, such as a new key. It is shown once, and never in an address.
    package var secret: ShownSecret?
    /// The apps of the tenant, from which the top bar chooses.
    package var apps: [String]

    package struct ShownSecret: Sendable, Hashable {
        package var title: Text
        package var value: String
        package init(title: Text, value: String) {
            self.title = title
            self.value = value
        }
    }

    package struct Parameter: Sendable, Hashable {
        package var name: String
        package var value: String
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        /// `name=value`, percent-coded.
        package var coded: String { "\(PercentCoding.encode(name))=\(PercentCoding.encode(value))" }
    }

    package init(
        language: Language,
        tenant: String,
        account: ConsoleAccount,
        now: Timestamp,
        zone: String,
        formToken: String,
        onceToken: String
    ) {
        self.language = language
        self.tenant = tenant
        self.account = account
        self.now = now
        self.zone = zone
        self.formToken = formToken
        self.onceToken = onceToken
        theme = nil
        path = [:]
        query = []
        typed = FormFields([])
        errors = FieldErrors([:])
        isRevealed = false
        apps = []
    }

    /// The first value of a parameter, without an empty one.
    package func value(_ name: String) -> String? {
        query.first { $0.name == name && !$0.value.isEmpty }?.value
    }
}

/// The fields of a sent form, in order. Uploads are fields whose value is the file's bytes.
package struct FormFields: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        case text(String)
        case file(name: String, bytes: [UInt8])
    }
    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: Value
        package init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }
    package var fields: [Field]
    package init(_ fields: [Field]) { self.fields = fields }

    package var isEmpty: Bool { fields.isEmpty }
    /// The first text of a name, without surrounding white space.
    package subscript(name: String) -> String? { all(name).first }
    /// All texts of a name.
    package func all(_ name: String) -> [String] {
        fields.compactMap { field in
            guard field.name == name, case .text(let text) = field.value else { return nil }
            return text
        }
    }
    /// The first file of a name.
    package func file(_ name: String) -> [UInt8]? {
        for field in fields where field.name == name {
            if case .file(_, let bytes) = field.value { return bytes }
        }
        return nil
    }
}

/// A call of the native API, performed in this process as the account of the session.
package struct APICall: Sendable, Hashable {
    package enum Method: String, Sendable, Hashable {
        case get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE"
    }
    /// How the page finds the answer.
    package var name: String
    package var method: Method
    /// Below `/v1/`, with each segment percent-coded by `APICall.segment`: `messages/0198…`.
    package var path: String
    package var query: [PageRequest.Parameter]
    package var body: JSON?
    /// `If-Match` of the version that was shown, so that two people do not overwrite each other.
    package var ifMatch: String?
    /// `Idempotency-Key`, where the operation has one.
    package var once: String?
    /// A body that is not JSON, such as an image.
    package var bytes: [UInt8]?

    package init(
        _ name: String,
        _ method: Method = .get,
        _ path: String,
        query: [PageRequest.Parameter] = [],
        body: JSON? = nil,
        ifMatch: String? = nil,
        once: String? = nil,
        bytes: [UInt8]? = nil
    ) {
        self.name = name
        self.method = method
        self.path = path
        self.query = query
        self.body = body
        self.ifMatch = ifMatch
        self.once = once
        self.bytes = bytes
    }
}

/// The answer of a call.
package struct APIAnswer: Sendable {
    package var status: Int
    /// `.null` without a body. A problem's body is that of the native API: `type`, `title`, `status`, `detail`, `code`, `errors`. An answer of lines is an array of
    /// them.
    package var body: JSON
    package var entityTag: String?
    package var requestID: String
    /// The last offset of the event log, `X-Event-Head` of an answer of `/v1/events`.
    package var eventHead: Int64?

    package init(
        status: Int,
        body: JSON,
        entityTag: String? = nil,
        requestID: String,
        eventHead: Int64? = nil
    ) {
        self.status = status
        self.body = body
        self.entityTag = entityTag
        self.requestID = requestID
        self.eventHead = eventHead
    }

    package var isSuccess: Bool { (200..<300).contains(status) }
}

/// The answers of a page's calls by name.
package struct Answers: Sendable {
    private var answers: [String: APIAnswer]
    package init(_ answers: [String: APIAnswer] = [:]) { self.answers = answers }

    package subscript(name: String) -> APIAnswer? {
        get { answers[name] }
        set { answers[name] = newValue }
    }
    package func has(_ name: String) -> Bool { answers[name] != nil }
    /// The body of a successful answer; `.null` otherwise.
    package func body(_ name: String) -> JSON { answers[name].flatMap { $0.isSuccess ? $0.body : nil } ?? .null }
    /// The body of the answer without which the page cannot be shown.
    package func required(_ name: String) throws(PageFailure) -> JSON {
        guard let answer = answers[name] else { throw .notFound }
        guard answer.isSuccess else { throw answer.status == 404 ? .notFound : .problem(answer) }
        return answer.body
    }
}

/// The bounds of pages.
package enum ConsoleLimits {
    package static let roundsPerPage = 4
    package static let callsPerPage = 16
    /// Rows of a table; the rest follows by a cursor.
    package static let rows = 50
}
