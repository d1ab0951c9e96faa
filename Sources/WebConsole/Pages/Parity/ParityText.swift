enum ParityText {
    static let title = Text(ko: "응답 일치도", en: "Parity")
    static let figures = Text(ko: "벤더와의 일치", en: "Agreement with the vendor")
    static let figuresNote = Text(
        ko: "관찰한 호출 기준. 확인 주체: 게이트웨이",
        en: "By observed calls. Source: gateway"
    )
    static let metric = Text(ko: "항목", en: "Metric")
    static let agreement = Text(ko: "일치", en: "Agreement")
    static let samples = Text(ko: "표본", en: "Samples")
    static let differences = Text(ko: "불일치", en: "Differences")
    static let examples = Text(ko: "불일치 예", en: "Examples of differences")
    static let examplesNote = Text(
        ko: "최근 시간의 예를 항목별로 최대 20개까지 가려서 보관합니다.",
        en: "Masked; at most 20 of each metric, those of the newest hours."
    )
    static let call = Text(ko: "호출", en: "Call")
    static let fields = Text(ko: "다른 필드", en: "Fields that differ")
    static let ours = Text(ko: "게이트웨이 응답", en: "The gateway's answer")
    static let theirs = Text(ko: "벤더 응답", en: "The vendor's answer")
    static let facts = Text(ko: "세부 정보", en: "Details")
    static let period = Text(ko: "기간", en: "Period")
    static let hour = Text(ko: "최근 1시간", en: "Last hour")
    static let day = Text(ko: "최근 24시간", en: "Last 24 hours")
    static let week = Text(ko: "최근 7일", en: "Last 7 days")
    static let empty = Text(
        ko: "아직 비교할 관찰 결과가 없습니다.",
        en: "Nothing has been observed yet, so that nothing can be compared."
    )
    static let emptyStep = Text(
        ko: "호출 규칙에 proxy를 사용하면 벤더의 응답과 비교합니다. 마이그레이션의 관찰 단계가 그렇습니다.",
        en: "Proxy calls to the vendor, as the first step of a migration does: the answers are then compared."
    )
    static let noExamples = Text(ko: "불일치가 없습니다.", en: "No difference was found.")

    /// Counted differences of a metric, in words.
    static func metricMeaning(_ metric: String) -> Text {
        switch metric {
        case "observed":
            Text(ko: "게이트웨이가 이해하고 저장한 호출", en: "Calls that the gateway understood and stored")
        case "responses": Text(ko: "벤더와 같은 필드로 응답했을 호출", en: "Calls that it would answer with the same fields")
        case "reach": Text(ko: "게이트웨이가 발신할 수 있는 대상", en: "Targets to which it could push")
        case "payload": Text(ko: "거절되거나 줄어들지 않는 페이로드", en: "Payloads that are neither refused nor shortened")
        case "unknown": Text(ko: "게이트웨이가 아는 메시지의 수신 확인", en: "Receipts of messages that it knows")
        case "senders": Text(ko: "게이트웨이의 발신자 인증을 통과할 발신", en: "Sends that would pass its proof of senders")
        default: Text(ko: metric, en: metric)
        }
    }

    // MARK: Sentences

    static func differs(_ app: String, _ metric: String, _ agreement: String, _ count: String) -> Text {
        Text(
            ko: "\(app): 가장 낮은 일치도는 \(agreement)입니다(\(metric), 불일치 \(count)건).",
            en: "\(app): the lowest agreement is \(agreement) (\(metric); \(count, one: "difference"))."
        )
    }

    static func agrees(_ app: String, _ count: String) -> Text {
        Text(
            ko: "\(app): 관찰한 \(count)건에서 벤더와 다른 점이 없습니다.",
            en: "\(app): gateway and vendor agree in all of \(count, one: "observation")."
        )
    }

    static func tooFew(_ app: String, _ count: String) -> Text {
        Text(
            ko: "\(app): 관찰이 \(count)건뿐이어서 판단할 수 없습니다.",
            en: "\(app): only \(count, one: "observation"), too few to conclude anything."
        )
    }
}
