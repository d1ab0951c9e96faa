import PageParts

/// The texts of the pages of failures.
enum FailuresText {
    static let title = Text(ko: "실패", en: "Failures")
    static let reason = Text(ko: "사유", en: "Reason")
    static let stage = Text(ko: "단계", en: "Stage")
    static let count = Text(ko: "건수", en: "Count")
    static let share = Text(ko: "대상 대비", en: "Of targets")
    static let meaning = Text(ko: "의미", en: "Meaning")
    static let party = Text(ko: "담당", en: "Responsible")
    static let action = Text(ko: "권장 조치", en: "Recommended action")
    static let first = Text(ko: "처음 발생", en: "First seen")
    static let table = Text(ko: "사유별 건수", en: "Losses by reason")
    static let chart = Text(ko: "사유별 비중", en: "Share of each reason")
    static let course = Text(ko: "기간 중 추이", en: "Over the range")
    static let messages = Text(ko: "이 사유가 있는 메시지", en: "Messages with this reason")
    static let deliveries = Text(ko: "이 사유로 알림을 받지 못한 대상", en: "Deliveries with this reason")
    static let facts = Text(ko: "의미와 권장 조치", en: "Meaning and recommended action")
    static let device = Text(ko: "단말 진단", en: "Diagnose device")
    static let incomplete = Text(
        ko: "가장 많은 사유 1,000개만 표시합니다.",
        en: "Only the 1,000 largest losses are shown."
    )
    static let sampled = Text(
        ko: "기간 중 최근 메시지의 처음 발신 결과에서 찾은 대상입니다. 전체 목록은 ‘내보내기’에서 받을 수 있습니다.",
        en: "Found among the first deliveries of the latest messages of the range. Exports has all of them."
    )
    static let noneSampled = Text(
        ko: "최근 메시지의 처음 발신 결과에는 이 사유가 없습니다. 전체 목록은 ‘내보내기’에서 받을 수 있습니다.",
        en: "The first deliveries of the latest messages do not have this reason. Exports has all deliveries."
    )
    static let exports = Text(ko: "내보내기", en: "Exports")
    static let none = Text(ko: "이 기간에 실패한 알림이 없습니다.", en: "There are no failures in this range.")
    static let noneStep = Text(
        ko: "발신되지 않거나 접수되지 않은 알림이 생기면 사유와 권장 조치가 여기에 표시됩니다.",
        en: "Notifications that are not sent or not accepted appear here by reason, with the recommended action."
    )
    static let undocumented = Text(
        ko: "게이트웨이가 모르는 사유입니다. 발신 서비스의 문서를 확인하세요.",
        en: "The gateway does not know this reason. See the documentation of the push service."
    )

    /// The stage in which deliveries were lost.
    static func stage(_ stage: String?) -> Text {
        switch stage {
        case "suppressed": Text(ko: "발신 제외", en: "Suppressed")
        case "canceled": Text(ko: "취소", en: "Canceled")
        case "expired": Text(ko: "기간 만료", en: "Expired")
        case "unsendable": Text(ko: "발신 불가", en: "Unsendable")
        case "rejected": Text(ko: "거절", en: "Rejected")
        case let other?: Text(ko: Reading.line(other, 40), en: Reading.line(other, 40))
        case nil: Text(ko: Words.unknown, en: Words.unknown)
        }
    }

    /// The meaning of a stage without a reason of its own.
    static func meaning(ofStage stage: String?) -> Text {
        switch stage {
        case "canceled": Text(ko: "발신하기 전에 메시지가 취소되었습니다.", en: "The message was canceled before it was sent.")
        case "expired": Text(ko: "발신하기 전에 메시지가 만료되었습니다.", en: "The message expired before it could be sent.")
        case .some, nil: Text(ko: "발신되지 않았습니다.", en: "It was not sent.")
        }
    }

    static func action(ofStage stage: String?) -> Text {
        switch stage {
        case "expired":
            Text(
                ko: "유효 기간을 늘리거나, 대기열과 인증서·키의 상태를 확인하세요.",
                en: "Let messages live longer, or check the queue and the credentials."
            )
        case .some, nil: Text(ko: "조치할 것이 없습니다.", en: "No action is required.")
        }
    }

    // MARK: Sentences

    static func credential(_ reason: String, _ count: String) -> Text {
        Text(
            ko: "인증서·키 문제(\(reason))로 알림 \(count)건이 접수되지 않았습니다. 지금 조치가 필요합니다.",
            en:
                "\(count, one: "notification was", many: "notifications were") not accepted because of a credential (\(reason)). Action is required now."
        )
    }
    static func most(_ lost: String, _ targets: String, _ rate: String, _ reason: String, _ count: String) -> Text {
        Text(
            ko: "대상 \(targets)건 가운데 \(lost)건(\(rate))이 단말에 전달되지 않았습니다. 가장 많은 사유는 \(reason) \(count)건입니다.",
            en:
                "\(lost) of \(targets, one: "target") (\(rate)) did not reach a device. Most frequent reason: \(reason), \(count)."
        )
    }
    static func one(_ count: String, _ rate: String, _ meaning: String) -> Text {
        Text(
            ko: "대상의 \(rate)인 \(count)건에 이 사유가 있습니다. \(meaning)",
            en: "\(count, one: "delivery has", many: "deliveries have") this reason, \(rate) of the targets. \(meaning)"
        )
    }
    static func absent(_ meaning: String) -> Text {
        Text(ko: "이 기간에는 이 사유가 없습니다. \(meaning)", en: "No delivery in this range has this reason. \(meaning)")
    }
    static func before(_ time: String) -> Text { Text(ko: "\(time) 이전", en: "before \(time)") }
}
