import PageParts

enum OverviewText {
    static let title = Text(ko: "개요", en: "Overview")
    static let funnel = Text(ko: "발신 퍼널", en: "Delivery funnel")
    static let now = Text(ko: "현재", en: "Now")
    static let perSecond = Text(ko: "건/초", en: "notifications per second")
    static let lastQuarter = Text(ko: "최근 3시간, 15분 단위", en: "Last 3 hours, by quarter hour")
    static let openLive = Text(ko: "실시간 보기", en: "Live view")
    static let queued = Text(ko: "대기", en: "Queued")
    static let median = Text(ko: "지연 중앙값", en: "Median latency")
    static let p95 = Text(ko: "지연 p95", en: "p95 latency")
    static let action = Text(ko: "조치 필요", en: "Action required")
    static let noAction = Text(ko: "조치할 항목이 없습니다.", en: "No action is required.")
    static let vendors = Text(ko: "벤더별 결과", en: "Results by vendor")
    static let vendor = Text(ko: "벤더", en: "Vendor")
    static let messages = Text(ko: "최근 메시지", en: "Recent messages")
    static let message = Text(ko: "메시지", en: "Message")
    static let viewAll = Text(ko: "모두 보기", en: "View all")
    static let status = Text(ko: "상태", en: "Status")
    static let chart = Text(ko: "추이", en: "Over time")
    static let noTitle = Text(ko: "(제목 없음)", en: "(no title)")
    static let today = Text(ko: "오늘", en: "Today")

    static let targets = Text(ko: "대상", en: "Targets")
    static let sent = Text(ko: "발신", en: "Sent")
    static let accepted = Text(ko: "APNs 접수", en: "Accepted by APNs")
    static let acceptedShort = Text(ko: "접수", en: "Accepted")
    static let received = Text(ko: "수신 확인", en: "Received")
    static let read = Text(ko: "읽음", en: "Read")
    static let gateway = Text(ko: "게이트웨이", en: "Gateway")
    static let apns = Text(ko: "APNs", en: "APNs")
    static let app = Text(ko: "앱", en: "App")
    static let notSent = Text(ko: "미발신", en: "Not sent")
    static let notAccepted = Text(ko: "미접수", en: "Not accepted")
    static let noAnswer = Text(ko: "결과 미확인", en: "no response")
    static let pending = Text(ko: "대기", en: "pending")
    static let ofAll = Text(ko: "전체 대상 기준", en: "All targets of accepted messages")
    static let dash = Text(
        ko: "–: SDK가 알리지 않음 · 접수율은 게이트웨이가 발신한 알림 기준",
        en: "–: not reported by the SDK · accepted is of what the gateway sent"
    )

    static func ableToReceive(_ count: String) -> Text {
        Text(ko: "수신 확인을 지원하는 \(count)건 기준", en: "of \(count) that can report receipts")
    }

    static func ableToRead(_ count: String) -> Text {
        Text(ko: "읽음 확인을 지원하는 \(count)건 기준", en: "of \(count) that can report reads")
    }

    static func unable(_ count: String) -> Text {
        Text(ko: "\(count)건은 수신 확인을 지원하지 않는 SDK로 발신", en: "\(count) went to SDKs that cannot report receipts")
    }

    static func compared(_ change: String, _ before: String) -> Text {
        Text(ko: "\(before) 대비 \(change)", en: "\(change) compared with the \(before.lowercasedFirst)")
    }

    // MARK: The sentence

    static let normal = Text(ko: "모든 시스템이 정상입니다. ", en: "All systems normal. ")
    static let queueUnknown = Text(
        ko: "대기열 상태를 확인할 수 없습니다.",
        en: "The state of the queue is unknown."
    )

    static func accepted(_ count: String, _ range: String) -> Text {
        Text(ko: "\(range) APNs가 알림 \(count)건을 접수했습니다.", en: "APNs accepted \(count, one: "notification") \(range).")
    }

    static func acceptedAndEmpty(_ count: String, _ range: String) -> Text {
        Text(
            ko: "\(range) APNs가 알림 \(count)건을 접수했으며, 대기열은 비어 있습니다.",
            en: "APNs accepted \(count, one: "notification") \(range); the queue is empty."
        )
    }

    static func nothing(_ range: String) -> Text {
        Text(ko: "\(range) 발신한 알림이 없습니다.", en: "No notifications were sent \(range).")
    }

    static func queued(_ count: String, until: String?) -> Text {
        let queued = "\(count, one: "notification is", many: "notifications are") queued"
        guard let until else { return Text(ko: "알림 \(count)건이 대기 중입니다.", en: queued + ".") }
        return Text(
            ko: "알림 \(count)건이 대기 중이며 \(until)경까지 발신됩니다.",
            en: "\(queued) and will be sent by about \(until)."
        )
    }

    static func late(_ since: String) -> Text {
        Text(
            ko: "대기열이 지연되고 있습니다. 가장 오래된 알림은 \(since)부터 대기 중입니다.",
            en: "The queue is late: the oldest notifications have been due since \(since)."
        )
    }

    static func rejected(_ credential: String, _ reason: String?, since: String?) -> Text {
        let code = reason.map { " (\($0))" } ?? ""
        return Text(
            ko: "발신이 중지되었습니다. \(since.map { "\($0)부터 " } ?? "")APNs가 인증서·키 \(credential)을(를) 거절합니다\(code).",
            en:
                "Deliveries are paused: APNs rejects credential \(credential)\(code)\(since.map { " since \($0)" } ?? "")."
        )
    }

    static func unusable(_ credential: String) -> Text {
        Text(
            ko: "인증서·키 \(credential)(으)로 발신할 수 없습니다.",
            en: "Credential \(credential) cannot be used to send."
        )
    }

    static func paused(_ lanes: String) -> Text {
        Text(
            ko: "발신 구분 \(lanes)이(가) 일시 중지되어 있으며, 메시지가 대기 중입니다.",
            en: "Messages wait, because these lanes are paused: \(lanes)."
        )
    }

    static func lowAcceptance(_ rate: String, _ range: String, _ reason: String?) -> Text {
        Text(
            ko: "\(range) 발신한 알림 중 \(rate)만 APNs가 접수했습니다.\(reason.map { " 주된 사유는 \($0)입니다." } ?? "")",
            en:
                "APNs accepted only \(rate) of the notifications sent \(range).\(reason.map { " The main reason is \($0)." } ?? "")"
        )
    }

    // MARK: Actions

    static func expires(_ credential: String, _ days: String) -> Text {
        Text(ko: "인증서 \(credential)이(가) \(days) 뒤 만료됩니다", en: "Certificate \(credential) expires in \(days)")
    }

    static func expired(_ credential: String) -> Text {
        Text(ko: "인증서 \(credential)이(가) 만료되었습니다", en: "Certificate \(credential) has expired")
    }

    static func validUntil(_ date: String) -> Text { Text(ko: "유효 기간: \(date)까지", en: "Valid until \(date).") }
    static let upload = Text(ko: "인증서·키 열기", en: "Open credential")
    static let devices = Text(ko: "실패 보기", en: "View failures")
    static let queue = Text(ko: "대기열 보기", en: "View queue")
    static let waiting = Text(ko: "이 인증서·키를 사용하는 메시지가 대기 중입니다.", en: "Messages that use it are waiting.")

    static func rejectedTokens(_ count: String, _ reason: String) -> Text {
        Text(ko: "\(reason)(으)로 토큰 \(count)개 거절", en: "\(count, one: "token") rejected as \(reason)")
    }

    static func lost(_ count: String, _ reason: String) -> Text {
        Text(ko: "\(reason): 알림 \(count)건 미발신", en: "\(count, one: "notification") not sent: \(reason)")
    }

    // MARK: The chart

    static func caption(_ interval: String) -> Text {
        switch interval {
        case "hour": Text(ko: "시간별 APNs 접수와 읽음", en: "Notifications accepted and read, by hour")
        case "week": Text(ko: "주별 APNs 접수와 읽음", en: "Notifications accepted and read, by week")
        default: Text(ko: "일별 APNs 접수와 읽음", en: "Notifications accepted and read, by day")
        }
    }

    static func fell(_ rate: String, _ moment: String) -> Text {
        Text(ko: "\(moment) APNs 접수가 \(rate) 감소했습니다", en: "Accepted notifications fell \(rate) on \(moment)")
    }

    static func rose(_ rate: String, _ moment: String) -> Text {
        Text(ko: "\(moment) APNs 접수가 \(rate) 증가했습니다", en: "Accepted notifications rose \(rate) on \(moment)")
    }

    static func bar(_ accepted: String, _ received: String, _ read: String) -> Text {
        Text(
            ko: "접수 \(accepted), 수신 확인 \(received), 읽음 \(read)",
            en: "accepted \(accepted), received \(received), read \(read)"
        )
    }

    // MARK: Empty

    static let emptyTitle = Text(ko: "발신한 메시지의 퍼널이 여기에 표시됩니다.", en: "The funnel of sent messages appears here.")
    static let emptyStep = Text(
        ko: "앱을 연동하고 첫 메시지를 발신하세요.",
        en: "Connect an app and send its first message."
    )
    static let emptyLink = Text(ko: "앱·연동 열기", en: "Open apps and bindings")
    static let noMessages = Text(ko: "최근 메시지가 여기에 표시됩니다.", en: "Recent messages appear here.")
    static let composeStep = Text(ko: "메시지를 발신하세요.", en: "Send a message.")
    static let compose = Text(ko: "메시지 발신", en: "Compose a message")
}

extension String {
    /// `Previous 7 days` inside a sentence.
    var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
