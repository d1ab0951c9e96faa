import APNsSimulator

/// A connection, a rule book and a valid push. A test changes one part and checks the verdict.
struct RuleBench {
    static let token = String(repeating: "ab", count: 32)

    let key: TestKey
    /// One token for all pushes: ECDSA signs differently every time, and a second token within 20 minutes is refused.
    let authorization: String
    var book: RuleBook
    var connection = ConnectionState()
    var now = TestKey.now
    var scripted: ScriptedAnswer?
    var isOverRate = false

    init(
        topics: Set<String>? = nil,
        keyEnvironment: APNsEnvironment? = nil,
        isRevoked: Bool = false,
        change: (inout RuleBook.Settings) -> Void = { _ in }
    ) throws {
        key = TestKey()
        authorization = try key.bearer()
        let registered = try key.registered(topics: topics, environment: keyEnvironment, isRevoked: isRevoked)
        var settings = RuleBook.Settings(keys: try KeyRegistry([registered]))
        change(&settings)
        book = RuleBook(settings)
    }

    /// A push that passes every rule.
    func goodPush() -> [(String, String)] {
        [
            (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(Self.token)"),
            (":authority", "localhost"), ("authorization", authorization), ("apns-topic", "com.example.shop"),
            ("apns-push-type", "alert"), ("apns-priority", "10"), ("apns-expiration", "0"),
            ("apns-id", "123e4567-e89b-12d3-a456-426614174000"),
        ]
    }

    /// Judges the valid push with these headers in place of its own; nil removes a header.
    mutating func judge(
        _ changes: [String: String?] = [:],
        adding extra: [(String, String)] = [],
        body: String = #"{"aps":{"alert":"hi"}}"#,
        bodyBytes: Int? = nil
    ) -> RuleBook.Verdict {
        var request = PushRequest(body: Array(body.utf8), bodyBytes: bodyBytes ?? body.utf8.count)
        var headers = goodPush().filter { changes[$0.0] == nil }
        headers += changes.compactMap { name, value in value.map { (name, $0) } } + extra
        for (name, value) in headers { request.receive(name: name, value: value) }
        let scripted = self.scripted
        let isOverRate = self.isOverRate
        let facts = WorldFacts(scriptedAnswer: { _ in scripted }, isOverRate: { _, _ in isOverRate })
        return book.judge(request, on: &connection, facts: facts, now: now)
    }
}
