import Model
package import PageParts

/// The page after the button that sends: ten seconds in which sending can be undone, then the state of the message.
struct SentPage: ConsolePage {
    let path = "compose/sent/{message}"
    let permission = Permission.send
    let forms: [any ConsoleForm] = [UndoForm()]
    let sharing = UpdateSharing.page

    /// A message that is due within so many seconds can be undone; a later one is scheduled and can be canceled.
    static let soonSeconds: Int64 = 30

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        Reading.open([APICall("message", .get, Link.path("messages", request.path["message"] ?? ""))], answers)
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let language = request.language
        let message = try answers.required("message")
        let id = request.path["message"] ?? ""
        let state = SentState(message, now: request.now)
        let open = Link(SentText.open(language), Link.path("messages", id))
        var actions: [Action] = []
        if state.isUndoable {
            let words = state == .scheduled ? SentText.cancel : SentText.undo
            let path = Link.path("compose", "sent", id, "undo")
            actions.append(.post(label: words(language), path: path, isMain: true))
        } else {
            actions.append(.link(open, isMain: true))
        }
        let again = ComposePage.link(SentText.again(language), with: message, id)
        actions.append(.link(state.isUndoable ? open : again))
        return PageContent(
            title: SentText.title(language),
            sentence: Sentence(mark: state.mark, text: words(state, message, request), link: nil),
            actions: actions,
            blocks: [
                Block(
                    title: SentText.content(language),
                    note: SendingText.gateway(language),
                    body: [.facts(facts(message, request))]
                )
            ],
            live: [.message]
        )
    }

    private func words(_ state: SentState, _ message: JSON, _ request: PageRequest) -> String {
        let language = request.language
        let format = ConsoleFormat(request)
        switch state {
        case .starting:
            let seconds = message.time("dueAt").map { max(0, ($0 - request.now).milliseconds + 999) / 1000 } ?? 0
            return SentText.starting(seconds)(language)
        case .scheduled:
            if let local = message["localDue"]?.string.flatMap({ LocalTime($0) }) {
                return SentText.scheduledLocal(format.local(local))(language)
            }
            return SentText.scheduled(message.time("dueAt").map { format.zonedDateTime($0) } ?? "–")(language)
        case .canceled:
            let reached = message["funnel"]?["reached"]?.int ?? 0
            return reached > 0
                ? SentText.canceledAfter(format.count(reached))(language) : SentText.canceled(language)
        case .awaiting: return SentText.awaiting(language)
        case .running: return SentText.running(language)
        case .paused: return SentText.paused(language)
        case .done: return SentText.done(language)
        case .ended: return SentText.ended(language)
        }
    }

    private func facts(_ message: JSON, _ request: PageRequest) -> [Fact] {
        let language = request.language
        let format = ConsoleFormat(request)
        return [
            Fact(label: SendingText.app(language), value: message["app"]?.string ?? "–"),
            Fact(label: ComposeText.messageTitle(language), value: message["title"]?.string ?? "–"),
            Fact(label: ComposeText.body(language), value: message["body"]?.string ?? "–"),
            Fact(
                label: SentText.recipients(language),
                value: message["recipients"]?.int.map { format.count($0) } ?? "–"
            ),
            Fact(
                label: SentText.due(language),
                value: message.time("dueAt").map { format.zonedDateTime($0) } ?? "–"
            ),
        ]
    }
}

/// The state of a message for the person who sent it.
enum SentState: Sendable, Hashable, CaseIterable {
    case starting, scheduled, canceled, awaiting, running, paused, done, ended

    init(_ message: JSON, now: Timestamp) {
        switch message["state"]?.string.flatMap(MessageState.init(rawValue:)) {
        case .scheduled, nil:
            let soon = now + .seconds(SentPage.soonSeconds)
            let isSoon = message.time("dueAt").map { $0 <= soon } ?? false
            self = isSoon && message["localDue"]?.string == nil ? .starting : .scheduled
        case .expanding, .sending: self = .running
        case .paused: self = .paused
        case .done, .observed: self = .done
        case .canceled: self = .canceled
        case .expired, .dead: self = .ended
        case .awaitingApproval: self = .awaiting
        }
    }

    /// Whether nothing was sent yet.
    var isUndoable: Bool { self == .starting || self == .scheduled || self == .awaiting }

    var mark: Mark {
        switch self {
        case .starting, .scheduled, .running: .info
        case .canceled: .idle
        case .awaiting, .paused: .warn
        case .done: .ok
        case .ended: .bad
        }
    }
}

/// Cancels the message.
struct UndoForm: ConsoleForm {
    let name = "undo"
    let permission = Permission.send

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let id = request.path["message"] ?? ""
        return .call(APICall("undo", .post, Link.path("messages", id, "cancel")))
    }

    /// The page states whether the message was canceled in time.
    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess ? .back(nil) : .invalid(FieldErrors(answer))
    }
}

package enum SentText {
    static let title = Text(ko: "메시지 발신", en: "Message")
    static func starting(_ seconds: Int64) -> Text {
        Text(
            ko: "\(seconds)초 후 발신을 시작합니다.",
            en: "Sending starts in \(seconds, one: "second")."
        )
    }
    static func scheduled(_ time: String) -> Text {
        Text(ko: "\(time)에 발신하도록 예약했습니다.", en: "The message is scheduled for \(time).")
    }
    static func scheduledLocal(_ time: String) -> Text {
        Text(
            ko: "각 단말의 현지 시각으로 \(time)에 발신하도록 예약했습니다.",
            en: "The message is scheduled for \(time) in the time zone of each device."
        )
    }
    static let canceled = Text(
        ko: "취소했습니다. 발신된 알림은 없습니다.",
        en: "The message was canceled. No notification was sent."
    )
    static func canceledAfter(_ count: String) -> Text {
        Text(
            ko: "취소했습니다. 취소하기 전에 \(count)건이 발신되었습니다.",
            en: "The message was canceled. \(count, one: "notification") had been sent before."
        )
    }
    static let awaiting = Text(
        ko: "수신 대상이 많아 다른 소유자의 승인을 기다립니다.",
        en: "The message awaits the approval of another owner, because it has many recipients."
    )
    static let running = Text(ko: "발신이 진행 중입니다.", en: "Sending is in progress.")
    static let paused = Text(ko: "발신이 일시 중지되었습니다.", en: "Sending is paused.")
    static let done = Text(ko: "발신이 완료되었습니다.", en: "Sending is complete.")
    static let ended = Text(
        ko: "발신을 마치지 못했습니다. 메시지에서 사유를 확인하십시오.",
        en: "Sending ended before all notifications were sent. The message states the reasons."
    )
    static let undo = Text(ko: "실행 취소", en: "Undo")
    static let cancel = Text(ko: "발신 취소", en: "Cancel message")
    static let open = Text(ko: "메시지 열기", en: "Open message")
    static let again = Text(ko: "이 내용으로 다시 작성", en: "Compose with this content")
    static let content = Text(ko: "메시지", en: "Message")
    package static let recipients = Text(ko: "대상", en: "Targets")
    package static let due = Text(ko: "발신 시각", en: "Due")
}
