import Model
import PageParts

/// One message: progress, funnel, losses by reason, latency, content and sender, with the actions on it.
struct MessagePage: ConsolePage {
    let path = "messages/{message}"
    let permission = Permission.figures
    let forms: [any ConsoleForm] = MessageAction.allCases.map { MessageForm(action: $0) }
    let sharing = UpdateSharing.page

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        let id = request.path["message"] ?? ""
        guard let answer = answers["message"] else { return [MessageReading.message(id)] }
        guard answer.isSuccess else { return [] }
        return Reading.open(MessageDeliveries.calls(id, MessageFunnel(answer.body)), answers)
    }

    func export(_ request: PageRequest) -> APICall? { MessageReading.message(request.path["message"] ?? "") }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let message = try answers.required("message")
        let funnel = MessageFunnel(message)
        let deliveries = MessageDeliveries(answers, funnel)
        let language = request.language
        var blocks: [Block] = []
        if let question = question(message, funnel, request) { blocks.append(question) }
        if let errors = FormProblems.block(request) { blocks.append(errors) }
        blocks.append(MessageParts.funnel(message, funnel, request))
        blocks.append(MessageParts.losses(message, funnel, deliveries, answers, request))
        blocks.append(MessageParts.latency(deliveries, request))
        blocks.append(MessageParts.dialects(message, deliveries, request))
        blocks.append(MessageParts.facts(message, request))
        var page = PageContent(
            title: MessageReading.title(message, language),
            sentence: MessageSentence.make(message, funnel, deliveries, request),
            actions: actions(message, request),
            blocks: blocks
        )
        page.live = [.message]
        return page
    }

    /// The path of a message's page, and of a form of it.
    static func path(_ message: JSON, _ form: String? = nil) -> String {
        let id = message["id"]?.string ?? ""
        return form.map { Link.path("messages", id, $0) } ?? Link.path("messages", id)
    }

    // MARK: Actions

    private func actions(_ message: JSON, _ request: PageRequest) -> [Action] {
        let language = request.language
        var actions = MessageAction.allCases.filter { $0.applies(to: message) && Self.may(request, message) }.map {
            action -> Action in
            let path = Self.path(message, action.rawValue)
            guard action.needsConfirmation else {
                return .post(label: action.label(language), path: path, isMain: action == .resume)
            }
            return Confirmation.button(action.label(language), action.rawValue, path: path)
        }
        if request.account.may(.send), let id = message["id"]?.string {
            actions.append(.link(ComposePage.link(MessagePageText.duplicate(language), with: message, id)))
        }
        actions.append(.link(Link(MessagePageText.rows(language), Self.path(message, "deliveries"))))
        return actions
    }

    /// Owners and operators act on every message, authors on their own.
    private static func may(_ request: PageRequest, _ message: JSON) -> Bool {
        if request.account.may(.operate) { return true }
        return request.account.role == .author && message["submittedBy"]?.string == "account:\(request.account.name)"
    }

    private func question(_ message: JSON, _ funnel: MessageFunnel, _ request: PageRequest) -> Block? {
        let words = Words(request)
        guard let action = MessageAction.allCases.first(where: { Confirmation.isAsked($0.rawValue, request) }) else {
            return nil
        }
        let text: Text
        switch action {
        case .cancel: text = MessagePageText.cancelQuestion(words.count(funnel.pending))
        case .requeue: text = MessagePageText.requeueQuestion(words.count(MessageSentence.dead(message).count))
        case .pause, .resume: return nil
        }
        return Confirmation.block(
            request,
            title: words(MessagePageText.confirmTitle),
            text: words(text),
            submit: action.label(request.language),
            path: Self.path(message, action.rawValue),
            back: Self.path(message)
        )
    }
}

/// The actions on a message.
enum MessageAction: String, Sendable, Hashable, CaseIterable {
    case pause, resume, requeue, cancel

    var label: Text {
        switch self {
        case .pause: MessagePageText.pause
        case .resume: MessagePageText.resume
        case .requeue: MessagePageText.requeue
        case .cancel: MessagePageText.cancel
        }
    }

    var notice: Text {
        switch self {
        case .pause: MessagePageText.paused
        case .resume: MessagePageText.resumed
        case .requeue: MessagePageText.requeued
        case .cancel: MessagePageText.didCancel
        }
    }

    /// Whether it is asked again before it is done.
    var needsConfirmation: Bool { self == .cancel || self == .requeue }

    /// Whether it would change the message.
    func applies(to message: JSON) -> Bool {
        guard let state = message["state"]?.string.flatMap({ MessageState(rawValue: $0) }) else { return false }
        return switch self {
        case .pause: [.scheduled, .expanding, .sending].contains(state)
        case .resume: state == .paused
        case .requeue: !(message["dead"]?.array ?? []).isEmpty
        case .cancel: [.scheduled, .expanding, .sending, .paused, .awaitingApproval, .dead].contains(state)
        }
    }
}

/// The form of an action.
struct MessageForm: ConsoleForm {
    let action: MessageAction
    var name: String { action.rawValue }
    let permission = Permission.operate

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard !action.needsConfirmation || Confirmation.isGiven(fields) else { return .show }
        let id = APICall.segment(request.path["message"] ?? "")
        return .call(APICall(action.rawValue, .post, "messages/\(id)/\(action.rawValue)"))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        return .back(answer.body["changed"]?.bool == false ? MessagePageText.unchanged : action.notice)
    }
}
