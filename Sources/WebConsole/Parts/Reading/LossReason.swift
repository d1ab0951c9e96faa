/// The reason of a loss, by the name that an answer has for it; nil or empty: the state is the reason.
package enum LossReason {
    package static func of(_ code: String?) -> ReasonWords? { code.flatMap { ReasonWords.of($0) } }

    /// The event, as a sentence, also for a reason that is not known here.
    package static func meaning(_ code: String?, _ language: Language) -> String {
        if let known = of(code) { return known.meaning(language) }
        guard let code, !code.isEmpty else { return "" }
        let name = Reading.line(code, 60)
        return Text(ko: "푸시 서비스가 \(name) 사유를 보고했습니다.", en: "The push service reported \(name).")(language)
    }

    /// Reasons that stop every notification of an app.
    package static let ofCredentials = Set(ReasonTable.credentials.map(\.0))
}
