import ConsoleDelivery
import Model
import PageParts

/// The messages that wait for a device, with the cause, in the words of the console.
struct DiagnosisWaits {
    let diagnosis: JSON
    let device: JSON
    let words: Words
    /// Whether the account may approve messages.
    var mayApprove = false

    private var messages: [JSON] { (diagnosis["waiting"]?.array ?? []).filter { $0.object != nil } }

    /// The message whose wait is the answer if no condition prevents a push. One that is due later and may not select the device is none.
    var first: JSON? {
        let now = words.moment(diagnosis["at"]) ?? words.now
        return messages.first { message in
            message["selected"]?.bool == true || words.moment(message["dueAt"]).map { $0 <= now } ?? false
        }
    }

    /// Whether open messages exist that were not looked at.
    var areIncomplete: Bool { diagnosis["waitingComplete"]?.bool == false }

    func sentence(_ message: JSON) -> Sentence {
        let subject =
            message["selected"]?.bool == true
            ? WaitingText.waits(since(message)) : WaitingText.mayWait(since(message))
        let parts = [words(subject), detail(message), words(WaitingText.action(cause(message)))]
        return Sentence(mark: mark(message), text: parts.joined(separator: " "), link: change(message))
    }

    /// The messages as a card; nil: none waits, and all were looked at.
    var block: Block? {
        guard !messages.isEmpty else { return nil }
        let rows = messages.prefix(10).map { message -> Table.Row in
            let id = message["message"]?.string ?? ""
            let selected = message["selected"]?.bool == true ? "" : " " + words(WaitingText.unsure)
            return Table.Row(
                cells: [
                    .link(Link(Reading.short(id), Link.path("messages", id))), .text(since(message)),
                    .text(detail(message) + selected), .text(words.time(message["expiresAt"])),
                    change(message).map { Table.Cell.link($0) } ?? Table.Cell.none,
                ],
                id: id
            )
        }
        let table = Table(
            caption: words(WaitingText.title),
            columns: [
                .init(label: words(MessagesText.message)), .init(label: words(WaitingText.since)),
                .init(label: words(WaitingText.cause)), .init(label: words(WaitingText.expires)),
                .init(label: words(WaitingText.next)),
            ],
            rows: rows
        )
        return Block(
            title: words(WaitingText.title),
            body: [.table(table)],
            foot: areIncomplete ? words(WaitingText.incomplete) : nil
        )
    }

    // MARK: One message

    private func cause(_ message: JSON) -> String? { message["because"]?.string }

    private func since(_ message: JSON) -> String { words.time(message["since"]) }

    private func mark(_ message: JSON) -> Mark {
        switch cause(message) {
        case "gaveUp", "credential", "upstream": .bad
        case "approval", "paused", "lane", "retry", "rate": .warn
        case .some, nil: .info
        }
    }

    /// The cause of the wait, as a sentence, and the next attempt.
    func detail(_ message: JSON) -> String {
        let until = words.moment(message["until"]).map { words.time($0) }
        let credential = Reading.text(message["credential"], 60)
        let reason = Reading.text(message["reason"], 60)
        let text: Text =
            switch cause(message) {
            case "gaveUp": DeliveryText.gaveUp(LossReason.meaning(reason, words.language))
            case "lane": WaitingText.lane(words(StateWords.lane(Reading.text(message["lane"], 40) ?? Words.unknown)))
            case "schedule": WaitingText.schedule(until ?? Words.unknown)
            case "localTime": DeliveryText.hours(until ?? Words.unknown, words(DeliveryText.localTime))
            case "quietHours": DeliveryText.hours(until ?? Words.unknown, words(DeliveryText.quietHours))
            case "receivingWindow": DeliveryText.hours(until ?? Words.unknown, words(DeliveryText.window))
            case "credential": WaitingText.credential(credential ?? Words.unknown, reason)
            case "upstream": WaitingText.upstream(credential ?? Words.unknown, reason)
            case "rate": WaitingText.rate(credential)
            case let name: WaitingText.state(name)
            }
        let hasNext = ["credential", "upstream", "pace", "retry", "rate", "queue"].contains(cause(message))
        guard hasNext, let until else { return words(text) }
        return "\(words(text)) \(words(WaitingText.nextTry(until)))"
    }

    /// The page where the cause is changed, or is visible.
    private func change(_ message: JSON) -> Link? {
        guard let id = message["message"]?.string else { return nil }
        let app = Link(words(DiagnosisText.toApp), Link.path("apps", device["app"]?.string ?? ""))
        let page = Link(words(MessagesText.message), Link.path("messages", id))
        let queue = Link(words(DiagnosisText.toQueue), "nodes")
        let credential = message["credential"]?.string.map {
            Link(words(DiagnosisText.toCredentials), Link.path("credentials", $0))
        }
        switch cause(message) {
        case "approval" where mayApprove: return Link(words(WaitingText.approvals), "approvals")
        case "lane", "queue": return queue
        case "credential", "upstream": return credential ?? Link(words(DiagnosisText.toCredentials), "credentials")
        case "rate": return credential ?? queue
        case "quietHours": return app
        case "receivingWindow":
            return Link(words(DiagnosisText.toDevice), Link.path("devices", device["id"]?.string ?? ""))
        case "retry":
            guard let target = message["target"]?.string else { return page }
            return Link(words(DiagnosisText.toDelivery), Link.path("messages", id, "deliveries", target))
        case .some, nil: return page
        }
    }
}

/// The texts of the messages that wait for a device.
enum WaitingText {
    static let title = Text(ko: "대기 중인 메시지", en: "Messages that wait")
    static let since = Text(ko: "대기 시작", en: "Waiting since")
    static let cause = Text(ko: "대기 사유", en: "Cause")
    static let expires = Text(ko: "만료", en: "Expires")
    static let next = Text(ko: "조치", en: "Next step")
    static let approvals = Text(ko: "승인", en: "Approvals")
    static let unsure = Text(
        ko: "이 단말이 대상인지는 아직 알 수 없습니다.",
        en: "It is not known yet whether the device is a recipient."
    )
    static let incomplete = Text(
        ko: "미완료 메시지가 더 있지만 확인하지 않았습니다.",
        en: "There are more open messages, which were not looked at."
    )

    static func waits(_ since: String) -> Text {
        Text(ko: "이 단말로 보낼 메시지가 \(since)부터 대기 중입니다.", en: "A message to this device has been waiting since \(since).")
    }
    static func mayWait(_ since: String) -> Text {
        Text(
            ko: "이 단말이 대상일 수 있는 메시지가 \(since)부터 대기 중입니다.",
            en: "A message that may be for this device has been waiting since \(since)."
        )
    }
    static func nextTry(_ time: String) -> Text {
        Text(ko: "다음 시도 시각은 \(time)입니다.", en: "The next attempt is on \(time).")
    }

    // MARK: Causes

    static func lane(_ lane: String) -> Text {
        Text(ko: "이 종류(\(lane))의 메시지 발신이 일시 중지되어 있습니다.", en: "Messages of this kind (\(lane)) are paused.")
    }
    static func schedule(_ time: String) -> Text {
        Text(ko: "\(time)에 발신하도록 예약되어 있습니다.", en: "It is scheduled for \(time).")
    }
    static func credential(_ name: String, _ reason: String?) -> Text {
        if let reason { return DiagnosisText.credentialRefused(name, reason, nil) }
        return Text(
            ko: "인증서·키 \(name)(으)로 푸시 서비스에 발신할 수 있을 때까지 기다립니다.",
            en: "It waits until the push service can be reached with credential \(name)."
        )
    }
    static func upstream(_ name: String, _ reason: String?) -> Text {
        let cause = reason.map { " (\($0))" } ?? ""
        return Text(
            ko: "업스트림 \(name)이(가) 호출을 받지 않아 기다립니다\(cause).",
            en: "It waits for the upstream \(name), which takes no calls\(cause)."
        )
    }
    static func rate(_ credential: String?) -> Text {
        guard let credential else {
            return Text(ko: "테넌트의 초당 발신 한도에 도달했습니다.", en: "The rate limit of the tenant is reached.")
        }
        return Text(
            ko: "인증서·키 \(credential)의 초당 발신 한도에 도달했습니다.",
            en: "The rate limit of credential \(credential) is reached."
        )
    }

    /// A cause without values.
    static func state(_ cause: String?) -> Text {
        switch cause {
        case "approval": Text(ko: "메시지가 승인을 기다립니다.", en: "It awaits an approval.")
        case "paused": Text(ko: "메시지가 일시 중지되어 있습니다.", en: "It is paused.")
        case "sending": Text(ko: "노드가 발신하는 중입니다.", en: "A node is sending it.")
        case "audience": Text(ko: "게이트웨이가 대상을 확인하는 중입니다.", en: "The gateway is still reading its audience.")
        case "pace": Text(ko: "발신 속도가 제한된 메시지입니다.", en: "The message is throttled.")
        case "retry": Text(ko: "푸시 서비스가 받지 않아 다시 시도합니다.", en: "The push service did not take it, so it is tried again.")
        case .some, nil: Text(ko: "대기열에서 차례를 기다립니다.", en: "It is queued behind other messages.")
        }
    }

    static func action(_ cause: String?) -> Text {
        switch cause {
        case "approval":
            Text(ko: "‘승인’에서 보낸 사람이 아닌 사람이 승인해야 합니다.", en: "Someone other than its sender has to approve it.")
        case "gaveUp": Text(ko: "재발신 버튼은 메시지 페이지에 있습니다.", en: "Requeue it on the page of the message.")
        case "paused": Text(ko: "메시지 페이지에서 발신을 재개하세요.", en: "Resume it on the page of the message.")
        case "lane": DiagnosisText.resumeLane
        case "credential", "upstream":
            Text(
                ko: "‘인증서·키’에서 해결하면 발신됩니다.",
                en: "Fix it under Credentials, then the message is sent."
            )
        case "rate": Text(ko: "기다리거나 한도를 높이세요.", en: "Wait, or raise the limit.")
        case "queue": Text(ko: "‘노드·대기열’에서 노드와 대기열을 확인하세요.", en: "Check the nodes and the queue under Nodes and queue.")
        case .some, nil: Text(ko: "조치할 것이 없습니다.", en: "No action is required.")
        }
    }
}
