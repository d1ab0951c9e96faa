import Model
import PageParts

enum LiveText {
    static let title = Text(ko: "실시간", en: "Live")
    static let latest = Text(ko: "최근 이벤트", en: "Latest events")
    static func latest(_ time: String, _ kind: String) -> Text {
        Text(ko: "마지막 이벤트: \(time) \(kind)", en: "Last event at \(time): \(kind)")
    }
    static let none = Text(ko: "아직 이벤트가 없습니다.", en: "No event has occurred yet.")
    static let noneFiltered = Text(
        ko: "최근 이벤트 1,000건 중 조건에 맞는 것이 없습니다.",
        en: "None of the last 1,000 events matches the filters."
    )
    static let how = Text(
        ko: "단말이 등록되거나 메시지가 발신되면 이벤트가 나타납니다.",
        en: "Events appear when devices register and messages are sent."
    )
    static let pause = Text(ko: "일시 중지", en: "Pause")
    static let resume = Text(ko: "다시 시작", en: "Resume")
    static let isPaused = Text(ko: "일시 중지되었습니다. 새 이벤트는 나타나지 않습니다.", en: "Paused: new events do not appear.")
    static let hidden = Text(
        ko: "탭이 보이지 않는 동안에는 갱신하지 않습니다.",
        en: "Updates stop while the tab is hidden."
    )
    static let all = Text(ko: "전체", en: "All")
    static let time = Text(ko: "시각", en: "Time")
    static let event = Text(ko: "이벤트", en: "Event")
    static let vendor = Text(ko: "벤더", en: "Vendor")
    static let object = Text(ko: "대상", en: "Object")
    static let message = Text(ko: "메시지", en: "Message")
    static let delivery = Text(ko: "전송 내역", en: "Delivery")
    static let device = Text(ko: "단말", en: "Device")
    static let messages = Text(ko: "메시지", en: "Messages")
    static let deliveries = Text(ko: "발신", en: "Deliveries")
    static let receipts = Text(ko: "수신 확인 및 읽음", en: "Receipts and reads")
    static let devices = Text(ko: "단말", en: "Devices")
    static let routes = Text(ko: "라우팅 규칙", en: "Routes")
    static let migrations = Text(ko: "전환", en: "Migrations")

    static func kind(_ name: String) -> Text {
        EventKind(rawValue: name).map(kind) ?? Text(ko: Sending.line(name), en: Sending.line(name))
    }

    static func kind(_ kind: EventKind) -> Text {
        switch kind {
        case .accepted: Text(ko: "메시지 접수", en: "Message accepted")
        case .messageCanceled: Text(ko: "메시지 취소", en: "Message canceled")
        case .messagePaused: Text(ko: "메시지 일시 중지", en: "Message paused")
        case .messageResumed: Text(ko: "메시지 다시 시작", en: "Message resumed")
        case .messageRequeued: Text(ko: "메시지 재발신", en: "Message requeued")
        case .approvalNeeded: Text(ko: "승인 필요", en: "Approval needed")
        case .messageApproved: Text(ko: "메시지 승인", en: "Message approved")
        case .sent: Text(ko: "발신", en: "Sent")
        case .failed: Text(ko: "거절", en: "Rejected")
        case .suppressed: Text(ko: "발신 제외", en: "Suppressed")
        case .expired: Text(ko: "기간 만료", en: "Expired")
        case .canceled: Text(ko: "취소", en: "Canceled")
        case .received: Text(ko: "수신 확인", en: "Received")
        case .read: Text(ko: "읽음", en: "Read")
        case .registered: Text(ko: "단말 등록", en: "Device registered")
        case .replaced: Text(ko: "등록 정보 교체", en: "Registration replaced")
        case .unregistered: Text(ko: "등록 해지", en: "Device unregistered")
        case .moved: Text(ko: "등록 정보 이동", en: "Registration moved")
        case .vouched: Text(ko: "사용자 확인", en: "User confirmed")
        case .possession: Text(ko: "단말 소유 확인", en: "Possession proved")
        case .preferenceChanged: Text(ko: "수신 설정 변경", en: "Preference changed")
        case .tokenInvalidated: Text(ko: "토큰 만료", en: "Token invalidated")
        case .tokenQuarantined: Text(ko: "토큰 격리", en: "Token quarantined")
        case .routesChanged: Text(ko: "라우팅 규칙 변경", en: "Routes changed")
        case .migrationChanged: Text(ko: "전환 변경", en: "Migration changed")
        }
    }
}
