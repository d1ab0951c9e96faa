/// The titles of the conditions of a diagnosis (docs/native-api.md), in the order in which the gateway examines them.
package enum ConditionWords {
    static let all: [(String, Text)] = [
        ("app", Text(ko: "앱", en: "App")),
        ("platform", Text(ko: "플랫폼", en: "Platform")),
        ("registration", Text(ko: "등록", en: "Registration")),
        ("token", Text(ko: "토큰", en: "Token")),
        ("route", Text(ko: "토픽과 환경", en: "Topic and environment")),
        ("credential", Text(ko: "인증서·키", en: "Credential")),
        ("dialect", Text(ko: "형식", en: "Dialect")),
        ("pushSetting", Text(ko: "수신 설정", en: "Push setting")),
        ("assurance", Text(ko: "본인 확인 수준", en: "Confirmation level")),
        ("highestLevel", Text(ko: "더 높은 수준의 등록", en: "Registration of a higher level")),
        ("optIn", Text(ko: "수신 동의", en: "Opt-in")),
        ("consents", Text(ko: "주제별 동의", en: "Consents")),
        ("lane", Text(ko: "발신 구분", en: "Lane")),
        ("quietHours", Text(ko: "방해 금지 시간", en: "Quiet hours")),
        ("receivingWindow", Text(ko: "수신 허용 시간", en: "Receiving window")),
        ("frequencyCap", Text(ko: "발신 횟수 제한", en: "Frequency cap")),
        ("lastDelivery", Text(ko: "최근 발신", en: "Latest delivery")),
        ("receipts", Text(ko: "수신 확인", en: "Receipts")),
    ]

    /// The title of a condition; an unknown one is its own name.
    package static func title(_ condition: String) -> Text {
        all.first { $0.0 == condition }?.1 ?? Text(ko: condition, en: condition)
    }
}
