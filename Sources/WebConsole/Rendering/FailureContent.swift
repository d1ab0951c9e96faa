/// The page of an error: what happened, what to do, the code and the ID of the request.
package enum FailureContent {
    private static let noPermission = Text(
        ko: "이 페이지를 볼 권한이 없습니다.",
        en: "You do not have the permission for this page."
    )
    private static let code = Text(ko: "오류 코드", en: "Code")
    private static let requestID = Text(ko: "요청 ID", en: "Request ID")
    private static let detail = Text(ko: "상세", en: "Detail")
    private static let details = Text(ko: "신고할 때 필요한 정보", en: "For a report")
    private static let home = Text(ko: "개요로 이동", en: "Go to the overview")

    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - code: the problem's code, `PG-…`; nil: the console's own error.
    ///   - detail: the problem's detail, which is English.
    ///   - requestID: leads to the log lines of the request.
    ///   - needs: the permission that is missing. The page names the roles that have it.
    ///   - language: that of the page.
    /// - Returns: the content of the page.
    package static func content(
        status: Int,
        code: String?,
        detail: String? = nil,
        requestID: String,
        needs: Permission? = nil,
        _ language: Language
    ) -> PageContent {
        let words = ProblemWords.of(code, status: status)
        let title = needs == nil ? words.title(language) : noPermission(language)
        let action = needs.map { roles($0, language) } ?? words.action(language)
        var facts: [Fact] = []
        if let code { facts.append(Fact(label: Self.code(language), value: code, isMono: true)) }
        facts.append(Fact(label: Self.requestID(language), value: requestID, isMono: true))
        if let detail, !detail.isEmpty { facts.append(Fact(label: Self.detail(language), value: detail)) }
        return PageContent(
            title: title,
            sentence: Sentence(mark: status >= 500 ? .bad : .warn, text: action),
            blocks: [
                Block(title: details(language), body: [.facts(facts), .actions([.link(Link(home(language), ""))])])
            ]
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
