import Model
import PageParts

/// The review of a composed message: the number of its recipients, each format's payload, the sentence that states what will happen, and the
/// button. A preview has only the payloads.
struct Review {
    private let composition: Composition
    private let request: PageRequest
    private let answers: Answers
    private let faults: [String: String]
    private let isReviewed: Bool

    init(_ composition: Composition, _ request: PageRequest, _ answers: Answers) {
        self.request = request
        self.answers = answers
        isReviewed = !request.typed.isEmpty && !Self.isPreview(request)
        faults = composition.faults(request.language, now: request.now, zone: request.zone)
        var found = composition
        if composition.audience == .search { found.devices = Self.found(composition, answers) }
        self.composition = found
    }

    // MARK: Calls

    private static func isPreview(_ request: PageRequest) -> Bool {
        request.typed[FormNames.form] == "compose/preview"
    }

    /// The searches first, then what depends on the found devices.
    static func calls(_ composition: Composition, _ request: PageRequest, _ answers: Answers) -> [APICall] {
        let app = composition.app
        if isPreview(request) {
            // Nobody is counted while a person types.
            return composition.isEmpty ? [] : [preview(composition, to: ["everyone": true], request)]
        }
        guard composition.faults(request.language, now: request.now, zone: request.zone).isEmpty else { return [] }
        var composition = composition
        if composition.audience == .search {
            let finds = composition.searches.enumerated().map { place, text in
                APICall("find-\(place)", .post, "find", body: ["value": .string(text), "app": .string(app)])
            }
            guard Reading.open(finds, answers).isEmpty else { return finds }
            composition.devices = found(composition, answers)
        }
        guard let to = composition.recipients else { return [] }
        let shown = Self.preview(composition, to: to, request)
        let due = shown.body?["sendAt"] ?? JSON.null
        return [
            size(of: to, app, due: composition.isListed ? nil : due),
            shown,
            APICall("tests", .get, Link.path("apps", app, "groups", Sending.testGroup)),
        ]
    }

    private static func preview(_ composition: Composition, to recipients: JSON, _ request: PageRequest) -> APICall {
        let message = composition.message(to: recipients, zone: request.zone)
        return APICall("preview", .post, "messages", query: [.init("preview", "true")], body: message)
    }

    /// The question how many devices the recipients are. With `due`, the message's `sendAt`, it also asks how many of them get nothing then.
    static func size(of recipients: JSON, _ app: String, due: JSON? = nil) -> APICall {
        var body = JSONObject([("to", recipients)])
        if let due {
            body["excluded"] = true
            body["sendAt"] = due
        }
        return APICall("size", .post, Link.path("apps", app, "audience-size"), body: .object(body))
    }

    /// The devices that the searches found, each once.
    static func found(_ composition: Composition, _ answers: Answers) -> [String] {
        var ids: [String] = []
        for place in composition.searches.indices {
            for match in answers.body("find-\(place)")["matches"]?.array ?? [] {
                for device in match["devices"]?.array ?? [] {
                    guard device["app"]?.string == composition.app, let id = device["id"]?.string, !ids.contains(id),
                        ids.count <= Composition.Limits.devices
                    else { continue }
                    ids.append(id)
                }
            }
        }
        return ids
    }

    private var isCut: Bool {
        composition.searches.indices.contains { place in
            (answers.body("find-\(place)")["matches"]?.array ?? []).contains { $0["more"]?.bool == true }
        } || composition.devices.count > Composition.Limits.devices
    }

    // MARK: Figures

    /// The number of devices, and how exact it is.
    struct Size {
        var count: Int64
        var precision: String

        init?(_ answers: Answers) {
            guard let count = answers.body("size")["count"]?.int else { return nil }
            self.count = count
            precision = answers.body("size")["precision"]?.string ?? "exact"
        }

        /// Whether the number must be typed.
        var isLarge: Bool { count > Sending.confirmAbove || precision == "atLeast" && count >= Sending.confirmAbove }

        func words(_ format: ConsoleFormat) -> String {
            switch precision {
            case "about": format.estimate(count)
            case "atLeast": ComposeText.atLeast(format.count(count))(format.language)
            default: format.count(count)
            }
        }
    }

    private var size: Size? { Size(answers) }
    private var format: ConsoleFormat { ConsoleFormat(request) }

    /// By format, in the order of the answer.
    private var previews: [(key: String, value: JSON)] { answers.body("preview")["previews"]?.object?.pairs ?? [] }

    private var refused: [String] {
        previews.filter { $0.value["refused"]?.string != nil || $0.value["error"]?.string != nil }.map { preview in
            VendorName.of(preview.key, request.language)
        }
    }

    /// Whether the button may be pressed.
    var isReady: Bool {
        guard isReviewed, faults.isEmpty, let size, size.count > 0, !isCut, !previews.isEmpty else { return false }
        return refused.count < previews.count
    }

    // MARK: Words

    /// The rules of the sentence, the first that applies: not reviewed, faults, nobody, nothing can be sent, what will happen.
    var sentence: Sentence {
        let language = request.language
        guard isReviewed else { return Sentence(mark: .info, text: ComposeText.begin(language)) }
        if !faults.isEmpty { return Sentence(mark: .warn, text: ComposeText.faults(faults.count)(language)) }
        if isCut { return Sentence(mark: .warn, text: ComposeText.tooManyFound(language)) }
        if composition.audience == .search, composition.devices.isEmpty {
            return Sentence(mark: .warn, text: ComposeText.nothingFound(language))
        }
        guard let size else { return Sentence(mark: .bad, text: ComposeText.faults(1)(language)) }
        guard size.count > 0 else { return Sentence(mark: .warn, text: ComposeText.nobody(language)) }
        if !previews.isEmpty, refused.count == previews.count {
            return Sentence(mark: .bad, text: ComposeText.refusedAll(refused.joined(separator: ", "))(language))
        }
        let words = ComposeText.send(size.words(format), composition.app, time(language))(language)
        return Sentence(mark: isReady ? .info : .warn, text: words)
    }

    private func time(_ language: Language) -> String {
        switch composition.due {
        case .now: ComposeText.now(language)
        case .at:
            composition.moment(in: request.zone).map {
                ComposeText.atMoment(format.zonedDateTime($0))(language)
            } ?? "–"
        case .local:
            LocalTime(composition.local).map { ComposeText.atLocal(format.local($0))(language) } ?? "–"
        }
    }

    /// Refusals of the calls behind the page.
    private var notes: [Part] {
        let names = ["source", "media"] + composition.searches.indices.map { "find-\($0)" } + ["size", "preview"]
        return names.compactMap { answers[$0] }.filter { !$0.isSuccess }.prefix(1).map {
            Sending.problem($0, request.language)
        }
    }

    // MARK: Cards

    /// Each format's payload with its size.
    var payloads: [Part] {
        let language = request.language
        guard !previews.isEmpty else { return notes + [.text(ComposeText.noPayloads(language))] }
        var parts: [Part] = notes + [.table(table)]
        for preview in previews {
            if let payload = preview.value["payload"] {
                let label = ComposeText.payload(of: VendorName.of(preview.key, language))(language)
                parts.append(.code(JSONWriter.text(payload), label: label))
            }
        }
        return parts
    }

    /// The buttons: a test, sending, a draft. After a change that was not reviewed there are none.
    var decision: [Part] {
        let language = request.language
        guard isReviewed else { return [.text(ComposeText.changed(language))] }
        var parts: [Part] = [.text(sentence.text)]
        if isReady { parts += excluded + [test] + send }
        let draft = FormView(
            path: "compose/draft",
            fields: carried(asDevices: false),
            submit: ComposeText.saveDraft(language)
        )
        return parts + [.form(draft)]
    }

    /// Of the recipients, those that opted out or are in quiet hours when the message is due.
    private var excluded: [Part] {
        guard !composition.isListed else { return [] }
        let (language, body) = (request.language, answers.body("size"))
        guard let optedOut = body["optedOut"]?.int, let quiet = body["quiet"]?.int else {
            return [.text(ComposeText.excludedUncounted(format.count(Sending.excludedLimit))(language))]
        }
        return [.text(ComposeText.excluded(format.count(optedOut), format.count(quiet))(language))]
    }

    private var table: Table {
        let language = request.language
        return Table(
            caption: ComposeText.payloadsCaption(language),
            columns: [
                .init(label: ComposeText.format(language)), .init(label: ComposeText.size(language), isNumber: true),
                .init(label: ComposeText.share(language)), .init(label: ComposeText.verdict(language)),
            ],
            rows: previews.map { preview in
                .init(
                    cells: [
                        .strong(VendorName.of(preview.key, language)), .text(sizeWords(preview.value)),
                        meter(preview.value), verdict(preview.value),
                    ],
                    id: "payload-\(preview.key)"
                )
            }
        )
    }

    /// `239 of 4,096 bytes`: the payload, and the largest one that Apple accepts.
    private func sizeWords(_ preview: JSON) -> String {
        guard let bytes = preview["bytes"]?.int else { return ConsoleFormat.unknown }
        guard let limit = preview["limit"]?.int, limit > 0 else { return format.bytes(bytes) }
        return ComposeText.bytes(format.count(bytes), of: format.count(limit))(request.language)
    }

    /// The share of the largest payload that Apple accepts.
    private func meter(_ preview: JSON) -> Table.Cell {
        guard let bytes = preview["bytes"]?.int, let limit = preview["limit"]?.int, bytes >= 0, limit > 0 else {
            return .none
        }
        let share = Double(bytes) / Double(limit)
        return .bar(
            [.init(share: share, style: bytes > limit ? .lost : .gateway)],
            words: format.rate(bytes, of: limit)
        )
    }

    private func verdict(_ preview: JSON) -> Table.Cell {
        let language = request.language
        if preview["refused"]?.string != nil || preview["error"]?.string != nil {
            return .tag(.bad, ComposeText.refused(language))
        }
        let reduced = preview["reduced"]?.array ?? []
        return reduced.isEmpty
            ? .tag(.ok, ComposeText.fits(language)) : .tag(.warn, ComposeText.shortened(language))
    }

    /// The test to the members of the test group.
    private var test: Part {
        let language = request.language
        let members = answers.body("tests")["members"]?.int ?? 0
        guard members > 0 else {
            let link = Link(ComposeText.toTest(language), "test-devices", [.init("app", composition.app)])
            return .callout(.info, ComposeText.noTest(language), link: link)
        }
        return .form(
            FormView(
                path: "compose/test",
                fields: carried(asDevices: true),
                submit: ComposeText.testSend(format.count(members))(language)
            )
        )
    }

    private var send: [Part] {
        guard let size else { return [] }
        let language = request.language
        var fields = carried(asDevices: true) + Sending.hidden([("count", "\(size.count)")])
        if size.isLarge {
            fields.append(
                FormView.Field(
                    name: "confirm",
                    label: ComposeText.typeNumber(size.count)(language),
                    kind: .number,
                    isRequired: true
                )
            )
        }
        let note = composition.due == .now ? ComposeText.undoable : ComposeText.cancelable
        return [
            .text(note(language)),
            .form(
                FormView(
                    path: "compose/send",
                    fields: fields,
                    submit: ComposeText.sendTo(size.words(format))(language)
                )
            ),
        ]
    }

    /// The reviewed message as hidden fields. To send it, the devices that were found take the place of the search.
    private func carried(asDevices: Bool) -> [FormView.Field] {
        let isFound = asDevices && composition.audience == .search
        var values = [
            ("app", composition.app),
            ("audience", (isFound ? Composition.Audience.devices : composition.audience)?.rawValue ?? ""),
            ("search", composition.search), ("group", composition.group), ("tags", composition.tags),
            ("devices", composition.devices.joined(separator: " ")), ("title", composition.title),
            ("body", composition.body), ("image", composition.image), ("campaign", composition.campaign),
            ("when", composition.due.rawValue), ("at", composition.at), ("local", composition.local),
            ("draft", ComposePage.draft(request)), ("revision", request.typed["revision"] ?? ""),
        ]
        if composition.isUrgent { values.append(("urgent", "on")) }
        values += composition.hidden
        values += composition.names.map { (Composition.field(of: $0), composition.variables[$0] ?? "") }
        return Sending.hidden(values)
    }
}
