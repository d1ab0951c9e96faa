import Model
import PageParts

/// A capture with the recorded calls; `?row=` opens one of them.
struct CapturePage: ConsolePage {
    let path = "captures/{capture}"
    let permission = Permission.configure
    var forms: [any ConsoleForm] { [StopCaptureForm(), DeleteCaptureForm()] }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("capture"), let main = export(request) else { return [] }
        return [main]
    }

    /// The open row is one of the rows that are shown, so that one call finds both.
    func export(_ request: PageRequest) -> APICall? {
        let id = APICall.segment(request.path["capture"] ?? "")
        var query = [PageRequest.Parameter("limit", String(ConsoleLimits.rows))]
        if let after = request.value("after").flatMap({ Int64($0) }), after > 0 {
            query.append(PageRequest.Parameter("after", String(after)))
        }
        return APICall("capture", .get, "captures/\(id)", query: query)
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let capture = try answers.required("capture")
        let here = Link.path("captures", request.path["capture"] ?? "")
        let calls = capture["page"]?.array ?? []
        var blocks: [Block] = []
        if let problems = FormProblems.block(request) { blocks.append(problems) }
        if Confirmation.isAsked("delete", request) {
            blocks.append(
                Confirmation.block(
                    request,
                    title: words(CapturesText.delete),
                    text: words(CapturesText.deleteQuestion),
                    submit: words(CapturesText.delete),
                    path: here + "/delete",
                    back: here
                )
            )
        }
        let row = request.value("row").flatMap { Int64($0) }
        if let row, let open = calls.first(where: { $0["sequence"]?.int == row }) { blocks += Self.call(open, words) }
        blocks.append(Self.facts(capture, words))
        blocks.append(
            Block(
                title: words(CapturesText.calls),
                body: [.table(Self.table(calls, capture, request, here, words))]
            )
        )
        let name = "\(words.text(capture["app"])) · \(VendorName.of(capture["vendor"]?.string, words.language))"
        return PageContent(
            title: "\(words(CapturesText.title)): \(name)",
            sentence: Self.sentence(calls, capture, words),
            actions: Self.actions(capture, here, words),
            blocks: blocks
        )
    }

    /// The rule: refused calls, then unknown ones, then none at all, otherwise all were carried out.
    private static func sentence(_ calls: [JSON], _ capture: JSON, _ words: Wording) -> Sentence {
        let total = words.count(Int64(calls.count))
        let refused = calls.filter { $0["outcome"]?.string == "refused" }
        if let first = refused.first {
            let count = words.count(Int64(refused.count))
            return Sentence(
                mark: .bad,
                text: words(CapturesText.someRefused(count, total, words.text(first["reason"])))
            )
        }
        let unknown = calls.filter { $0["outcome"]?.string == "unknown" }
        if let first = unknown.first {
            let count = words.count(Int64(unknown.count))
            return Sentence(mark: .warn, text: words(CapturesText.someUnknown(count, total, words.text(first["path"]))))
        }
        guard calls.isEmpty else { return Sentence(mark: .ok, text: words(CapturesText.allKnown(total))) }
        return capture["state"]?.string == "running"
            ? Sentence(mark: .info, text: words(CapturesText.nothingYet(words.time(capture["endsAt"]))))
            : Sentence(mark: .idle, text: words(CapturesText.nothing))
    }

    private static func actions(_ capture: JSON, _ here: String, _ words: Wording) -> [Action] {
        var actions: [Action] = []
        if capture["state"]?.string == "running" {
            actions.append(.post(label: words(CapturesText.stop), path: here + "/stop"))
        }
        actions.append(Confirmation.button(words(CapturesText.delete), "delete", path: here + "/delete"))
        return actions
    }

    private static func facts(_ capture: JSON, _ words: Wording) -> Block {
        let calls = "\(words.count(capture["exchanges"])) / \(words.count(capture["exchangeLimit"]))"
        let size = "\(words.bytes(capture["bytes"]?.int)) / \(words.bytes(capture["byteLimit"]?.int))"
        let texts = capture["texts"]?.bool == true ? CapturesText.textsKept : CapturesText.textsHidden
        return Block(
            title: words(CapturesText.capture),
            note: words(OperationsText.source),
            body: [
                .facts([
                    Fact(label: words(CapturesText.started), value: words.time(capture["startedAt"])),
                    Fact(label: words(CapturesText.by), value: words.text(capture["startedBy"])),
                    Fact(label: words(CapturesText.ends), value: words.time(capture["endsAt"])),
                    Fact(label: words(CapturesText.ended), value: words.time(capture["endedAt"])),
                    Fact(label: words(CapturesText.calls), value: calls),
                    Fact(label: words(CapturesText.size), value: size),
                    Fact(label: words(CapturesText.texts), value: words(texts)),
                ])
            ]
        )
    }

    private static func table(
        _ calls: [JSON],
        _ capture: JSON,
        _ request: PageRequest,
        _ here: String,
        _ words: Wording
    ) -> Table {
        Table(
            caption: words(CapturesText.calls),
            columns: [
                .init(label: words(CapturesText.call)), .init(label: words(OperationsText.time)),
                .init(label: words(CapturesText.outcome)), .init(label: words(CapturesText.status), isNumber: true),
                .init(label: words(CapturesText.reason)),
            ],
            rows: calls.map { call in
                let sequence = call["sequence"]?.int.map { String($0) } ?? ""
                let label = "\(words.text(call["method"])) \(words.text(call["path"]))"
                let kept = request.query.filter { $0.name != "row" }
                return Table.Row(
                    cells: [
                        .link(Link(label, here, kept + [PageRequest.Parameter("row", sequence)])),
                        .text(words.exactTime(call["at"])), outcome(call["outcome"]?.string, words),
                        .text(words.text(call["status"])), .text(words.text(call["reason"])),
                    ],
                    id: sequence
                )
            },
            next: OperationsParts.next(capture["next"], request, path: here),
            empty: EmptyState(title: words(CapturesText.noCalls), step: words(CapturesText.noCallsStep))
        )
    }

    private static func outcome(_ outcome: String?, _ words: Wording) -> Table.Cell {
        switch outcome {
        case "known": .tag(.ok, words(CapturesText.known))
        case "refused": .tag(.bad, words(CapturesText.refused))
        case "unknown": .tag(.warn, words(CapturesText.unknown))
        default: .text(outcome ?? Wording.unknown)
        }
    }

    /// One call: what arrived, and what was answered.
    private static func call(_ call: JSON, _ words: Wording) -> [Block] {
        let headers = (call["headers"]?.array ?? []).map { header in
            "\(words.text(header["name"])): \(header["value"]?.string ?? words(CapturesText.hidden))"
        }
        let query = call["query"]?.string.map { "?\($0)" } ?? ""
        let title = "\(words.text(call["method"])) \(words.text(call["path"]))\(query)"
        let body = call["body"]?.string ?? ""
        let answer = call["answer"]?.string ?? ""
        let empty = words(CapturesText.emptyBody)
        return [
            Block(
                width: 6,
                title: title,
                note: "#\(words.text(call["sequence"])) · \(words.text(call["route"]))",
                body: OperationsParts.code(headers.joined(separator: "\n"), CapturesText.headers, words)
                    + OperationsParts.code(body.isEmpty ? empty : body, CapturesText.body, words),
                foot: words.bytes(call["bodyBytes"]?.int)
            ),
            Block(
                width: 6,
                title: "\(words(CapturesText.status)) \(words.text(call["status"]))",
                note: call["answerType"]?.string,
                body: OperationsParts.code(answer.isEmpty ? empty : answer, CapturesText.answer, words),
                foot: words.bytes(call["answerBytes"]?.int)
            ),
        ]
    }
}

/// Ends a capture; what it recorded stays.
struct StopCaptureForm: ConsoleForm {
    let name = "stop"
    let permission = Permission.configure

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        .call(APICall("stop", .post, "captures/\(APICall.segment(request.path["capture"] ?? ""))/stop"))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess ? .back(CapturesText.stoppedNotice) : .invalid(FieldErrors(answer))
    }
}

/// Deletes a capture with its calls.
struct DeleteCaptureForm: ConsoleForm {
    let name = "delete"
    let permission = Permission.configure

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard Confirmation.isGiven(fields) else { return .show }
        return .call(APICall("delete", .delete, "captures/\(APICall.segment(request.path["capture"] ?? ""))"))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        return .go(Link(CapturesText.title(request.language), "captures"), OperationsText.deleted)
    }
}
