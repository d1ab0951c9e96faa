import PageParts

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

    // MARK: Without observed calls

    static let devices = Text(ko: "단말 비교", en: "Devices compared")
    static let devicesNote = Text(
        ko: "단말 파일과 비교한 마지막 결과입니다. 선택한 기간과 무관하며, 24시간이 지나면 통과 조건에 쓰이지 않습니다.",
        en: "The last devices import --compare, whatever the period is. Gates do not use it after 24 hours."
    )
    static let vendor = Text(ko: "벤더", en: "Vendor")
    static let difference = Text(ko: "차이", en: "Difference")
    static let key = Text(ko: "단말 키(가림)", en: "Key, masked")
    static let differing = Text(ko: "다른 단말", en: "Devices that differ")
    static let compared = Text(ko: "비교한 단말", en: "Compared")
    static let comparedAt = Text(ko: "비교 시각", en: "When")
    static let use = Text(ko: "통과 조건", en: "Gates")
    static let usable = Text(ko: "유효", en: "valid")
    static let outdated = Text(ko: "24시간 경과", en: "older than 24 hours")
    static let notCompared = Text(ko: "아직 비교한 결과가 없습니다.", en: "The devices have not been compared yet.")
    static let receipts = Text(ko: "수신 확인 비교", en: "Receipts compared")
    static let receiptsNote = Text(
        ko: "접수된 푸시당 수신 확인. 게이트웨이의 비율을 벤더의 비율로 나눈 값이며, 최근 7일까지 셉니다.",
        en: "Receipts per accepted push: the gateway's rate divided by the vendor's, of the last seven days at most."
    )
    static let ratio = Text(ko: "비율", en: "Ratio")
    static let ownReceipts = Text(ko: "게이트웨이: 수신/접수", en: "Gateway: received / accepted")
    static let vendorReceipts = Text(ko: "벤더: 수신/접수", en: "Vendor: received / accepted")
    static let noReceipts = Text(
        ko: "양쪽이 모두 푸시한 벤더가 없어 비교할 수 없습니다.",
        en: "No vendor's devices got pushes from both sides, so that nothing can be compared."
    )
    static let noReceiptsStep = Text(
        ko: "마이그레이션 중에 양쪽이 푸시하면 표시됩니다.",
        en: "It appears while both sides push, as in the stage rollout of a migration."
    )

    static func deviceDifference(_ kind: String) -> Text {
        switch kind {
        case "onlyInExport": Text(ko: "벤더에만 있음", en: "only in the export")
        case "onlyHere": Text(ko: "게이트웨이에만 있음", en: "only here")
        case "token": Text(ko: "토큰이 다름", en: "another token")
        case "user": Text(ko: "사용자가 다름", en: "another user")
        case "push": Text(ko: "푸시 설정이 다름", en: "another push setting")
        default: Text(ko: kind, en: kind)
        }
    }

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
