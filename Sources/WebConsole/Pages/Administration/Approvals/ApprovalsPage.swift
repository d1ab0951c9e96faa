import ConsoleDelivery
import Model
import PageParts

/// Messages that reach more recipients than their app permits without an approval.
struct ApprovalsPage: ConsolePage {
    let path = "approvals"
    let permission = Permission.administer
    let menu: MenuEntry? = MenuEntry(.administration, ApprovalText.title, .approvals)
    let forms: [any ConsoleForm] = [ApproveForm(), RejectForm()]
    let sharing = UpdateSharing.answers

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        Reading.open([list(request)], answers)
    }

    private func list(_ request: PageRequest) -> APICall {
        var query = [
            PageRequest.Parameter("state", MessageState.awaitingApproval.rawValue),
            .init("limit", "\(ConsoleLimits.rows)"),
        ]
        if let app = request.value("app") { query.append(.init("app", app)) }
        if let after = request.value("after") { query.append(.init("after", after)) }
        return APICall("messages", .get, "messages", query: query)
    }

    func export(_ request: PageRequest) -> APICall? { list(request) }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let language = request.language
        let answer = try answers.required("messages")
        let messages = answer["messages"]?.array ?? []
        let next = answer["next"]?.string
        let format = ConsoleFormat(request)
        var table = Table(
            caption: ApprovalText.title(language),
            columns: [
                .init(label: ApprovalText.message(language)), .init(label: SendingText.app(language)),
                .init(label: SentText.recipients(language), isNumber: true),
                .init(label: ApprovalText.sender(language)), .init(label: SentText.due(language)),
                .init(label: ApprovalText.decision(language)),
            ],
            rows: messages.compactMap { row($0, request, format) }
        )
        table.next = next.map { after in
            let kept = request.query.filter { $0.name != "after" }
            return Link(SendingText.next(language), "approvals", kept + [.init("after", after)])
        }
        table.empty = EmptyState(
            title: ApprovalText.none(language),
            step: ApprovalText.how(language),
            code: "approvalAbove: 10000"
        )
        return PageContent(
            title: ApprovalText.title(language),
            sentence: sentence(messages.count, next, answer, request),
            blocks: [
                Block(
                    title: ApprovalText.awaiting(language),
                    note: SendingText.gateway(language),
                    body: [.table(table)],
                    foot: ApprovalText.four(language)
                )
            ],
            live: [.messages]
        )
    }

    /// The search of a page ends before all messages were looked at: the sentence then states how far it went.
    private func sentence(_ count: Int, _ next: String?, _ answer: JSON, _ request: PageRequest) -> Sentence {
        let language = request.language
        if count > 0 { return Sentence(mark: .warn, text: ApprovalText.waiting(count, isMore: next != nil)(language)) }
        guard next != nil, let time = answer.time("searchedTo") else {
            return Sentence(mark: .ok, text: ApprovalText.none(language))
        }
        return Sentence(mark: .ok, text: ApprovalText.noneSince(ConsoleFormat(request).dateTime(time))(language))
    }

    private func row(_ message: JSON, _ request: PageRequest, _ format: ConsoleFormat) -> Table.Row? {
        guard let id = message["id"]?.string else { return nil }
        let language = request.language
        let text =
            [message["title"]?.string, message["body"]?.string].compactMap { $0?.trimmed }
            .first { !$0.isEmpty } ?? id
        let sender = message["submittedBy"]?.string
        let isOwn = sender == "account:" + request.account.name
        let fields = [PageRequest.Parameter("message", id)]
        var actions: [Action] = []
        if !isOwn {
            actions.append(
                .post(label: ApprovalText.approve(language), path: "approvals/approve", fields: fields, isMain: true)
            )
        }
        actions.append(
            .post(label: ApprovalText.reject(language), path: "approvals/reject", fields: fields, isDangerous: true)
        )
        return Table.Row(
            cells: [
                .link(Link(Sending.line(text), Link.path("messages", id))),
                .text(message["app"]?.string ?? "–"),
                .text(message["recipients"]?.int.map { format.count($0) } ?? "–"),
                .text(isOwn ? ApprovalText.own(language) : Sending.author(sender)),
                .text(message.time("dueAt").map { format.dateTime($0) } ?? "–"), .actions(actions),
            ],
            id: "approval-\(id)"
        )
    }
}

/// Approves a message of another person.
struct ApproveForm: ConsoleForm {
    let name = "approve"
    let permission = Permission.administer

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        .call(APICall("approve", .post, Link.path("messages", fields["message"] ?? "", "approve")))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess
            ? .back(answer.body["changed"]?.bool == false ? ApprovalText.nothing : ApprovalText.approved)
            : .invalid(FieldErrors(answer))
    }
}

/// Cancels a message instead of approving it.
struct RejectForm: ConsoleForm {
    let name = "reject"
    let permission = Permission.administer

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        .call(APICall("reject", .post, Link.path("messages", fields["message"] ?? "", "cancel")))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess
            ? .back(answer.body["changed"]?.bool == false ? ApprovalText.nothing : ApprovalText.rejected)
            : .invalid(FieldErrors(answer))
    }
}

enum ApprovalText {
    static let title = Text(ko: "승인", en: "Approvals")
    static let awaiting = Text(ko: "승인 대기 메시지", en: "Messages awaiting approval")
    static func waiting(_ count: Int, isMore: Bool) -> Text {
        let number = isMore ? "\(count)+" : "\(count)"
        return Text(
            ko: "메시지 \(number)건이 승인을 기다립니다. 승인하기 전에는 발신되지 않습니다.",
            en:
                "\(number, one: "message awaits an approval. It is", many: "messages await an approval. They are") not sent before."
        )
    }
    static let none = Text(ko: "승인을 기다리는 메시지가 없습니다.", en: "No message awaits an approval.")
    static func noneSince(_ time: String) -> Text {
        Text(
            ko: "\(time)까지 거슬러 찾은 메시지 중 승인을 기다리는 것이 없습니다. 다음 페이지에서 계속 찾습니다.",
            en: "Of the messages searched back to \(time), none awaits an approval. The next page continues the search."
        )
    }
    static let how = Text(
        ko: "앱의 approvalAbove 설정보다 대상이 많은 메시지가 여기에 나타납니다.",
        en: "Messages with more recipients than the setting approvalAbove of their app appear here."
    )
    static let four = Text(
        ko: "자신이 보낸 메시지는 승인할 수 없습니다. 승인과 반려는 감사 로그에 기록됩니다.",
        en:
            "Your own messages need the approval of another owner. Approvals and rejections are recorded in the audit log."
    )
    static let message = Text(ko: "메시지", en: "Message")
    static let sender = Text(ko: "보낸 사람", en: "Sent by")
    static let own = Text(ko: "나", en: "You")
    static let decision = Text(ko: "결정", en: "Decision")
    static let approve = Text(ko: "승인", en: "Approve message")
    static let reject = Text(ko: "반려", en: "Reject message")
    static let approved = Text(ko: "승인했습니다.", en: "The message is approved.")
    static let rejected = Text(ko: "반려했습니다. 발신되지 않습니다.", en: "The message is rejected and will not be sent.")
    static let nothing = Text(
        ko: "이미 결정된 메시지입니다. 변경된 내용은 없습니다.",
        en: "The message had been decided already. Nothing was changed."
    )
}
