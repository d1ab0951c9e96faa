package import PageParts

/// The texts of the list of messages.
package enum MessagesText {
    static let title = Text(ko: "메시지", en: "Messages")
    package static let message = Text(ko: "메시지", en: "Message")
    static let targets = Text(ko: "대상", en: "Targets")
    static let funnel = Text(ko: "퍼널", en: "Funnel")
    package static let due = Text(ko: "발신 시각", en: "Due")
    static let sender = Text(ko: "발신자", en: "Sent by")
    static let campaign = Text(ko: "캠페인", en: "Campaign")
    static let day = Text(ko: "날짜", en: "Day")
    static let text = Text(ko: "제목·본문", en: "Title or text")
    static let textHint = Text(ko: "예: 겨울 세일", en: "Such as: winter sale")
    static let compose = Text(ko: "메시지 발신", en: "Compose message")
    static let caption = Text(ko: "메시지, 최근 발신 순", en: "Messages, the latest due first")
    static let foot = Text(
        ko: "대상과 발신 제외는 게이트웨이, 접수는 APNs, 수신 확인과 읽음은 앱이 확인한 값입니다.",
        en: "Targets and losses are counted by the gateway, acceptance by APNs, receipts and reads by the app."
    )
    static let badDay = Text(
        ko: "날짜는 2026-12-01과 같은 형식이어야 합니다. 이 필터는 적용하지 않았습니다.",
        en: "A day has a form like 2026-12-01. This filter is not applied."
    )
    static let badState = Text(
        ko: "알 수 없는 상태입니다. 이 필터는 적용하지 않았습니다.",
        en: "This state is unknown. This filter is not applied."
    )
    static let empty = Text(ko: "아직 메시지가 없습니다.", en: "No message has been sent yet.")
    static let emptyStep = Text(
        ko: "‘메시지 발신’에서 첫 메시지를 발신하거나, 백엔드의 발신 주소를 이 게이트웨이로 바꾸세요.",
        en: "Compose the first message, or point the back end of an app to this gateway."
    )
    static let noneFound = Text(ko: "이 필터에 해당하는 메시지가 없습니다.", en: "No message matches these filters.")
    package static let untitled = Text(ko: "제목 없음", en: "Untitled")
    static let bar = (
        accepted: Text(ko: "APNs 접수", en: "accepted by APNs"), received: Text(ko: "수신 확인", en: "received"),
        read: Text(ko: "읽음", en: "read"), lost: Text(ko: "미발신·미접수", en: "not sent or not accepted")
    )

    static func approvals(_ count: String) -> Text {
        Text(ko: "메시지 \(count)건이 승인을 기다립니다.", en: "Messages awaiting an approval: \(count).")
    }
    static func dead(_ count: String) -> Text {
        Text(
            ko: "메시지 \(count)건의 재시도가 중단되었습니다. 원인을 해결한 뒤 재발신하세요.",
            en: "The gateway stopped retrying \(count, one: "message"). Fix the cause, then requeue."
        )
    }
    static func paused(_ count: String) -> Text {
        Text(
            ko: "메시지 \(count)건이 일시 중지되어 있습니다. 재개하거나 취소하세요.",
            en: "Paused messages: \(count). Resume or cancel them."
        )
    }
    static func sending(_ count: String) -> Text {
        Text(ko: "메시지 \(count)건을 발신하고 있습니다.", en: "Messages in progress: \(count).")
    }
    static func fine(_ count: String, _ time: String) -> Text {
        Text(
            ko: "조치가 필요한 메시지가 없습니다. 표시한 \(count)건 가운데 마지막 발신 시각은 \(time)입니다.",
            en: "No action is required for the \(count, one: "message") shown. The latest was due on \(time)."
        )
    }
    static func searched(_ time: String) -> Text {
        Text(ko: "\(time)까지 검색했습니다.", en: "Searched back to \(time).")
    }
}
