/// How long a secret stays valid after it was replaced.
package enum OverlapText {
    package static let label = Text(ko: "현재 비밀 값의 남은 사용 기간", en: "The present secret stays valid for")
    package static let atOnce = Text(ko: "즉시 만료", en: "It ends at once")
    package static let hour = Text(ko: "1시간", en: "1 hour")
    package static let day = Text(ko: "1일", en: "1 day")
    package static let week = Text(ko: "7일", en: "7 days")
    package static let month = Text(ko: "30일", en: "30 days")
}
