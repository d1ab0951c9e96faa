package import PageParts

/// The texts of one delivery: its timeline and what the gateway knows about it.
package enum DeliveryText {
    static let title = Text(ko: "발신 과정", en: "Delivery")
    package static let timeline = Text(ko: "발신 과정", en: "Timeline")
    static let facts = Text(ko: "발신 정보", en: "Facts")
    static let payload = Text(ko: "페이로드", en: "Payload")
    package static let recomputed = Text(
        ko: "현재 데이터로 다시 계산한 값입니다. 발신 이후 단말이나 앱 설정이 바뀌었으면 실제 발신과 다를 수 있습니다.",
        en:
            "Computed from the present data. It may differ from what was sent if the device or the app has changed since."
    )
    static let noPayload = Text(
        ko: "이 대상의 등록이 더 이상 없어 페이로드를 표시할 수 없습니다.",
        en: "The target has no active registration, and therefore no payload."
    )
    static let hiddenPayload = Text(
        ko: "이 계정의 역할로는 페이로드의 내용을 볼 수 없습니다.",
        en: "The role of this account may not see the content of the payload."
    )
    static let message = Text(ko: "메시지", en: "Message")
    static let device = Text(ko: "단말", en: "Device")
    static let address = Text(ko: "호출한 이름", en: "Address in the call")
    static let transport = Text(ko: "발신 서비스", en: "Push service")
    static let attempts = Text(ko: "시도 횟수", en: "Attempts")
    static let size = Text(ko: "페이로드 크기", en: "Payload size")
    static let reduced = Text(ko: "줄인 항목", en: "Shortened")
    static let topic = Text(ko: "토픽", en: "Topic")
    static let credential = Text(ko: "인증서·키", en: "Credential")
    static let rules = Text(ko: "라우팅 규칙", en: "Routing rules")
    static let tried = Text(ko: "시도한 경로", en: "Paths tried")
    static let upstream = Text(ko: "업스트림", en: "Upstream")
    static let queue = Text(ko: "대기열", en: "Queue")
    package static let diagnose = Text(ko: "이 단말에 왜 알림이 가지 않았나요?", en: "Why was this device not notified?")

    // MARK: Timeline

    static let accepted = Text(ko: "발신 요청 접수", en: "Request accepted")
    static let due = Text(ko: "발신 시각 도달", en: "Due")
    static let sent = Text(ko: "APNs로 발신", en: "Sent to APNs")
    static let ofService = Text(ko: "APNs 접수", en: "Accepted by APNs")
    static let unanswered = Text(ko: "응답 없음", en: "No answer")
    static let unansweredDetail = Text(
        ko: "응답을 받지 못했습니다. APNs가 접수했을 수도 있습니다.",
        en: "The answer was lost: APNs may or may not have accepted the notification."
    )
    static let notSent = Text(ko: "발신하지 않음", en: "Not sent")
    static let expired = Text(ko: "기간 만료", en: "Expired")
    static let canceled = Text(ko: "취소됨", en: "Canceled")
    static let waiting = Text(ko: "대기 중", en: "Queued")
    static let invalidated = Text(ko: "토큰 만료 처리", en: "Token invalidated")
    static let invalidatedDetail = Text(
        ko: "앱이 다시 등록할 때까지 이 토큰으로 발신하지 않습니다.",
        en: "Nothing is sent to this token until the app registers again."
    )
    static let received = Text(ko: "수신 확인", en: "Received")
    static let read = Text(ko: "읽음", en: "Read")
    static let noReceipt = Text(ko: "수신 확인 없음", en: "No receipt")
    static let noReceiptDetail = Text(
        ko: "앱이 이 메시지의 수신을 알리지 않았습니다.",
        en: "The app has not reported this message."
    )
    static let apns = Text(ko: "APNs", en: "APNs")
    static let app = Text(ko: "앱", en: "App")

    static func rejected(_ reason: String) -> Text { Text(ko: "거절: \(reason)", en: "Rejected: \(reason)") }
    static func targets(_ vendor: String, _ count: String) -> Text {
        Text(ko: "\(vendor) · 대상 \(count)", en: "\(vendor) · \(count, one: "target")")
    }
    static func bytes(_ size: String, _ attempts: String) -> Text {
        Text(ko: "\(size) · \(attempts)회 시도", en: "\(size) · attempts: \(attempts)")
    }
    static func version(_ version: String, _ paths: String) -> Text {
        Text(ko: "버전 \(version): \(paths)", en: "Version \(version): \(paths)")
    }

    // MARK: Sentences

    static func isQueued(_ time: String) -> Text {
        Text(ko: "대기 중입니다. 다음 시도 시각은 \(time)입니다.", en: "It is queued. The next attempt is on \(time).")
    }
    static let isQueuedSoon = Text(
        ko: "대기열을 떠났으며, 결과를 기록하는 중입니다.",
        en: "It has left the queue, and its outcome is being written."
    )
    static let isPaused = Text(
        ko: "메시지나 발신 경로(lane)가 일시 중지되어 대기합니다.",
        en: "It waits, because the message or its lane is paused."
    )
    static func waitsFor(_ credential: String) -> Text {
        Text(
            ko: "인증서·키 \(credential) 문제로 대기합니다. ‘인증서·키’에서 해결하면 발신됩니다.",
            en: "It waits for credential \(credential). Fix the credential, then it is sent."
        )
    }
    package static func gaveUp(_ reason: String) -> Text {
        Text(
            ko: "재시도가 중단되었습니다. \(reason) 원인을 해결한 뒤 메시지를 재발신하세요.",
            en: "The gateway stopped retrying it. \(reason) Fix the cause, then requeue the message."
        )
    }
    package static func hours(_ time: String, _ cause: String) -> Text {
        Text(ko: "\(cause) 때문에 \(time)까지 기다립니다.", en: "It waits until \(time), because of \(cause).")
    }
    package static let localTime = Text(ko: "단말 현지 시각 예약", en: "the local time of the device")
    package static let quietHours = Text(ko: "앱의 방해 금지 시간", en: "quiet hours of the app")
    package static let window = Text(ko: "단말의 수신 허용 시간", en: "the receiving window of the device")
    static let isSent = Text(
        ko: "APNs가 알림을 접수했습니다. 단말은 아직 수신을 알리지 않았습니다.",
        en: "APNs accepted the notification. The device has not reported its receipt."
    )
    static func isReceived(_ time: String) -> Text {
        Text(ko: "단말이 \(time)에 수신했습니다.", en: "The device received it on \(time).")
    }
    static func isRead(_ time: String) -> Text {
        Text(ko: "사용자가 \(time)에 읽었습니다.", en: "The user read it on \(time).")
    }
    static let didFail = Text(ko: "발신되지 않았습니다.", en: "It was not delivered.")
    static let didExpire = Text(
        ko: "발신하기 전에 메시지가 만료되었습니다.",
        en: "The message expired before it could be sent."
    )
    static let wasCanceled = Text(
        ko: "발신하기 전에 메시지가 취소되었습니다.",
        en: "The message was canceled before it was sent."
    )
}
