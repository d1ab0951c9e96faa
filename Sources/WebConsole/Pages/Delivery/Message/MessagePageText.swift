package import PageParts

/// The texts of the page of one message.
package enum MessagePageText {
    static let pause = Text(ko: "일시 중지", en: "Pause message")
    static let resume = Text(ko: "재개", en: "Resume message")
    static let cancel = Text(ko: "메시지 취소", en: "Cancel message")
    static let requeue = Text(ko: "재발신", en: "Requeue message")
    static let duplicate = Text(ko: "복제", en: "Duplicate message")
    static let rows = Text(ko: "단말별 결과", en: "Deliveries")
    static let funnel = Text(ko: "이 메시지의 퍼널", en: "Funnel of this message")
    static let accepted = Text(ko: "APNs 접수", en: "Accepted by APNs")
    package static let received = Text(ko: "수신 확인", en: "Received")
    package static let read = Text(ko: "읽음", en: "Read")
    static let apns = Text(ko: "APNs", en: "APNs")
    static let losses = Text(ko: "사유별 미발신·미접수", en: "Losses by reason")
    static let reason = Text(ko: "사유", en: "Reason")
    static let count = Text(ko: "건수", en: "Count")
    static let meaning = Text(ko: "의미", en: "Meaning")
    static let party = Text(ko: "담당", en: "Responsible")
    static let latency = Text(ko: "지연", en: "Latency")
    static let median = Text(ko: "APNs 응답 중앙값", en: "Median answer of APNs")
    static let p95 = Text(ko: "APNs 응답 p95", en: "p95 answer of APNs")
    static let receipt = Text(ko: "수신 확인까지 중앙값", en: "Median until receipt")
    static let dialects = Text(ko: "형식별 결과", en: "Results by dialect")
    static let dialect = Text(ko: "형식", en: "Dialect")
    static let deliveries = Text(ko: "발신 결과", en: "Deliveries")
    static let content = Text(ko: "내용과 발신자", en: "Content and sender")
    static let headline = Text(ko: "제목", en: "Title")
    static let body = Text(ko: "본문", en: "Text")
    static let hidden = Text(
        ko: "이 계정의 역할로는 내용을 볼 수 없습니다.",
        en: "The role of this account may not see the content."
    )
    static let id = Text(ko: "메시지 ID", en: "Message ID")
    static let campaign = Text(ko: "캠페인", en: "Campaign")
    static let variant = Text(ko: "변형", en: "Variant")
    static let acceptedAt = Text(ko: "접수 시각", en: "Request accepted")
    static let dueAt = Text(ko: "발신 시각", en: "Due")
    static let localDue = Text(ko: "단말 현지 시각", en: "Local time of each device")
    static let expiresAt = Text(ko: "만료 시각", en: "Expires")
    static let sender = Text(ko: "발신자", en: "Sent by")
    static let none = Text(ko: "손실이 없습니다.", en: "There are no losses.")
    static let unanswered = Text(ko: "응답을 받지 못한 발신 포함", en: "including those without an answer")
    static let ofAccepted = Text(ko: "접수된 알림 기준", en: "of the accepted notifications")
    static let notSent = Text(ko: "미발신", en: "Not sent")
    static let notAccepted = Text(ko: "미접수", en: "Not accepted")
    static let suppressed = Text(ko: "발신 제외", en: "suppressed")
    static let expired = Text(ko: "기간 만료", en: "expired")
    static let canceled = Text(ko: "취소", en: "canceled")
    static let pending = Text(ko: "대기", en: "pending")

    static let paused = Text(
        ko: "일시 중지했습니다. 이미 발신 중인 알림은 계속 발신됩니다.",
        en: "Paused. Notifications in flight are still sent."
    )
    static let resumed = Text(ko: "재개했습니다.", en: "Resumed.")
    static let didCancel = Text(
        ko: "취소했습니다. 이미 발신한 알림은 취소되지 않습니다.",
        en: "Canceled. Notifications that were sent stay sent."
    )
    static let requeued = Text(ko: "재발신을 시작했습니다.", en: "Requeued.")
    static let unchanged = Text(ko: "변경할 것이 없었습니다.", en: "There was nothing to change.")
    static let confirmTitle = Text(ko: "확인", en: "Confirm")

    static func cancelQuestion(_ count: String) -> Text {
        Text(
            ko: "아직 발신하지 않은 대상 \(count)건의 발신을 취소합니다. 되돌릴 수 없습니다.",
            en: "The \(count, one: "target") without a notification so far will not get one. This cannot be undone."
        )
    }
    static func requeueQuestion(_ count: String) -> Text {
        Text(
            ko: "재시도가 중단된 대상 \(count)건에 다시 발신합니다.",
            en: "The gateway will try the \(count, one: "target") again that it stopped retrying."
        )
    }

    // MARK: Sentences

    static func scheduled(_ count: String, _ time: String) -> Text {
        Text(
            ko: "\(time)에 대상 \(count)건에 발신합니다.",
            en: "It will be sent to \(count, one: "target") on \(time)."
        )
    }
    static let awaiting = Text(
        ko: "승인을 기다립니다. 다른 사람이 승인하면 발신됩니다.",
        en: "It awaits an approval, and is sent once another person approves it."
    )
    static let expanding = Text(ko: "대상을 조회하고 있습니다.", en: "The recipients are being determined.")
    static func sending(_ rate: String, _ settled: String, _ targets: String) -> Text {
        Text(
            ko: "발신 중: \(rate) 진행, 대상 \(targets)건 가운데 \(settled)건의 결과가 나왔습니다.",
            en: "In progress: \(rate). Outcomes: \(settled) of \(targets, one: "target")."
        )
    }
    static func isPaused(_ rate: String, _ pending: String) -> Text {
        Text(
            ko: "\(rate) 진행 후 일시 중지되었습니다. 대상 \(pending)건이 대기합니다. 재개하거나 취소하세요.",
            en:
                "Paused at \(rate). \(pending, one: "target is", many: "targets are") waiting. Resume or cancel the message."
        )
    }
    static func done(_ reached: String, _ targets: String, _ rate: String) -> Text {
        Text(
            ko: "완료: APNs가 대상 \(targets)건 가운데 \(reached)건(\(rate))을 접수했습니다.",
            en: "Completed: APNs accepted \(reached) of \(targets, one: "notification") (\(rate))."
        )
    }
    static func doneWith(_ reached: String, _ targets: String, _ rate: String, _ reason: String, _ lost: String)
        -> Text
    {
        Text(
            ko: "완료: APNs가 대상 \(targets)건 가운데 \(reached)건(\(rate))을 접수했습니다. 가장 많은 사유는 \(reason) \(lost)건입니다.",
            en:
                "Completed: APNs accepted \(reached) of \(targets, one: "notification") (\(rate)). Most frequent reason for the others: \(reason), \(lost)."
        )
    }
    static func nothingAccepted(_ targets: String, _ reason: String) -> Text {
        Text(
            ko: "대상 \(targets)건 가운데 접수된 알림이 없습니다. \(reason)",
            en: "APNs accepted none of \(targets, one: "notification"). \(reason)"
        )
    }
    static let noTargets = Text(
        ko: "이 메시지의 대상이 없었습니다. 수신 대상을 확인하세요.",
        en: "The audience of this message contained no target. Check its recipients."
    )
    static func wasCanceled(_ reached: String) -> Text {
        Text(
            ko: "취소되었습니다. 취소 전에 \(reached)건이 접수되었습니다.",
            en: "Canceled. \(reached, one: "notification was", many: "notifications were") accepted before."
        )
    }
    static func didExpire(_ expired: String) -> Text {
        Text(
            ko: "대상 \(expired)건에 발신하기 전에 메시지가 만료되었습니다.",
            en: "The message expired before it was sent to \(expired, one: "target")."
        )
    }
    static func dead(_ count: String, _ reason: String) -> Text {
        Text(
            ko: "대상 \(count)건의 재시도가 중단되었습니다. \(reason) 원인을 해결한 뒤 재발신하세요.",
            en:
                "The gateway stopped retrying \(count, one: "target"). \(reason) Fix the cause, then requeue the message."
        )
    }
    static let observed = Text(
        ko: "다른 시스템이 발신한 메시지이며, 게이트웨이는 관찰만 했습니다.",
        en: "Another system sent this message; the gateway only observed it."
    )
    static func sample(_ count: String) -> Text {
        Text(ko: "처음 \(count)건의 발신 결과 기준", en: "of the first \(count, one: "delivery", many: "deliveries")")
    }
    static let exact = Text(ko: "모든 발신 결과 기준", en: "of all deliveries")
}
