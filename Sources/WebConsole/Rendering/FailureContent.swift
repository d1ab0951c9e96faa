package import PageParts

/// The page of an error: what happened, what to do, the code and the ID of the request.
package enum FailureContent {
    private static let code = Text(ko: "오류 코드", en: "Code")
    private static let requestID = Text(ko: "요청 ID", en: "Request ID")
    private static let detail = Text(ko: "상세", en: "Detail")
    private static let details = Text(ko: "신고할 때 필요한 정보", en: "For a report")
    private static let overview = Text(ko: "개요로 이동", en: "Go to the overview")
    private static let start = Text(ko: "처음으로", en: "To the start")

    /// - Parameters:
    ///   - problem: the kind of the error. Its words are used where the code has none.
    ///   - code: the code of the native API's problem, `PG-…`; nil: the console's own error.
    ///   - note: a sentence of the console in addition to those words.
    ///   - detail: the detail of the native API's problem, which is English.
    ///   - needs: the permission that is missing. The page names the roles that have it.
    ///   - requestID: leads to the log lines of the request.
    ///   - isInTenant: whether the page has the frame of a tenant.
    ///   - language: that of the page.
    /// - Returns: the content of the page.
    package static func content(
        _ problem: ConsoleProblem,
        code: String? = nil,
        note: Text? = nil,
        detail: String? = nil,
        needs: Permission? = nil,
        requestID: String,
        isInTenant: Bool,
        _ language: Language
    ) -> PageContent {
        let words = ProblemWords.of(code) ?? ProblemWords(title: problem.title, action: problem.text)
        var facts = [Fact(label: Self.requestID(language), value: requestID, isMono: true)]
        if let code { facts.insert(Fact(label: Self.code(language), value: code, isMono: true), at: 0) }
        var body: [Part] = note.map { [Part.text($0(language))] } ?? []
        if let detail, !detail.isEmpty {
            let error = words.error(detail, language)
            if let quote = error.quote {
                body.append(.quote(quote))
            } else {
                facts.append(Fact(label: Self.detail(language), value: error.text))
            }
        }
        let home = Link(isInTenant ? overview(language) : start(language), "")
        body += [.facts(facts), .actions([.link(home)])]
        return PageContent(
            title: words.title(language),
            sentence: Sentence(
                mark: problem.status >= 500 ? .bad : .warn,
                text: needs.map { roles($0, language) } ?? words.action(language)
            ),
            blocks: [Block(title: details(language), body: body)]
        )
    }

    private static func roles(_ permission: Permission, _ language: Language) -> String {
        let roles = Role.allCases.filter(permission.roles.contains).map { CommonText.role($0)(language) }
        let names = roles.joined(separator: ", ")
        let what = CommonText.permission(permission)(language)
        return Text(
            ko: "이 권한(\(what))은 다음 역할에 있습니다: \(names).",
            en: "These roles may \(what): \(names)."
        )(language)
    }
}
