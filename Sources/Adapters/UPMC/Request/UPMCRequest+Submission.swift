import Model

/// The send calls (docs/contracts/upmc.md#1.9, docs/contracts/upmc.md#1.8.13).
extension UPMCRequest {
    func submission() throws(AdapterError) -> Submission {
        let (audience, variables) = try audience()
        let (content, page) = try content()
        return Submission(
            content: content,
            audience: audience,
            timing: SubmissionTiming(dueAt: try reservedFor()),
            lane: isBatch ? .background : isIndividual ? .transactional : .bulk,
            numbering: Numbering(variables: variables, tokens: try tokens(), pace: try pace(), page: page)
        )
    }

    private var isIndividual: Bool { endpoint == .send && parameters.all("TYPE").last?.uppercased() != "S" }

    /// Batches have their own priority from 5.1 on.
    private var isBatch: Bool { settings.version >= .v51 && parameters.all("PRIORITY").last == "1" }

    // MARK: Audience

    func audience() throws(AdapterError) -> (Audience, [UserVariables]) {
        switch endpoint {
        case .sendToGroup: return (try groupAudience(), [])
        case .sendToList:
            guard let file = parameters.file("upload_file") else { throw AdapterError(.missing, field: "upload_file") }
            let rows = try RecipientList.rows(file)
            return (.users(rows.map(\.user)), parameters.flag("TEMPLATE_YN") ? rows : [])
        default:  // the call to users, which may also name another type
            switch parameters.all("TYPE").last?.uppercased() {
            case nil, "E", "S": return (.users(try RecipientList.users(parameters)), [])
            case "A", "G": return (try groupAudience(), [])
            case .some: throw AdapterError(.invalid, field: "TYPE")
            }
        }
    }

    private func groupAudience() throws(AdapterError) -> Audience {
        switch parameters.all("TYPE").last?.uppercased() {
        case "A": return .everyone
        case "G": return .groups([GroupName(try parameters.required("GROUPSEQ"))])
        case nil: throw AdapterError(.missing, field: "TYPE")
        case .some: throw AdapterError(.invalid, field: "TYPE")
        }
    }

    /// `REQ_PSIDS`: a JSON array. Entries that are not tokens match no device.
    private func tokens() throws(AdapterError) -> [DeviceToken]? {
        let texts = parameters.all("REQ_PSIDS").flatMap(RecipientList.list)
        guard !texts.isEmpty else { return nil }
        guard texts.count <= UPMCLimits.tokenCount else { throw AdapterError(.tooLarge, field: "REQ_PSIDS") }
        let tokens = texts.compactMap { DeviceName.token($0, .apns) ?? DeviceToken(fcm: $0) }
        guard !tokens.isEmpty else { throw AdapterError(.invalid, field: "REQ_PSIDS") }
        return Array(Set(tokens)).sorted { $0.text < $1.text }
    }

    /// `SPLIT_MSG_CNT` messages, then a pause of `DELAY_SECOND` seconds; nil if either is 0.
    private func pace() throws(AdapterError) -> Pace? {
        let count = try parameters.integer("SPLIT_MSG_CNT") ?? 0
        let delay = try parameters.integer("DELAY_SECOND") ?? 0
        guard (0...1_000_000).contains(count) else { throw AdapterError(.invalid, field: "SPLIT_MSG_CNT") }
        guard (0...86_400).contains(delay) else { throw AdapterError(.invalid, field: "DELAY_SECOND") }
        return count > 0 && delay > 0 ? Pace(count: count, delay: .seconds(delay)) : nil
    }

    // MARK: Due time

    /// Nil means now, also for a reservation that is at most an hour late.
    private func reservedFor() throws(AdapterError) -> Timestamp? {
        guard let text = try parameters.text("RESERVEDATE") else { return nil }
        guard let time = KoreanTime(reservation: text)?.timestamp else {
            throw AdapterError(.invalid, field: "RESERVEDATE")
        }
        guard time < receivedAt else { return time }
        guard receivedAt - time <= UPMCLimits.reservationDelay else {
            throw AdapterError(.invalid, field: UPMCError.passedField)
        }
        return nil
    }

    /// Whether the answer has the format for a reservation.
    var isReserved: Bool { ((try? reservedFor()) ?? nil) != nil }

    // MARK: Content

    private func content() throws(AdapterError) -> (Content, PageDraft?) {
        let text = try parameters.required("MESSAGE", limit: UPMCLimits.textBytes)
        let message = MessageText(text, decodesTwice: settings.decodesMessageTwice)
        guard !message.body.isEmpty || message.title != nil else { throw AdapterError(.missing, field: "MESSAGE") }
        let number = try parameters.integer("BADGENO") ?? 0
        guard number <= UPMCLimits.badge else { throw AdapterError(.invalid, field: "BADGENO") }
        var data = JSONObject()
        data[DataKey.extra] = .string(try parameters.text("EXT", limit: UPMCLimits.textBytes) ?? "")
        data[DataKey.sender] = .string(try parameters.text("SENDERCODE") ?? "")
        // Assumed: a message without the parameter is shown in histories, although its payload contains `N`.
        if try parameters.text("DB_IN") != nil { data[DataKey.isStored] = parameters.flag("DB_IN") ? "Y" : "N" }
        data[DataKey.source] = message.source.map { .string($0) }
        data[DataKey.service] = try parameters.text("SERVICECODE").map { .string($0) }
        if isBatch { data[DataKey.isBatch] = "Y" }
        // Stored for sends through the vendor's own service; the gateway sends no text messages (docs/contracts/upmc.md#1.9.1).
        if parameters.flag("PUSH_FAIL_SMS_SEND") { data[DataKey.textsOnFailure] = "Y" }
        if let wait = (try? parameters.integer("SMS_READ_WAIT_MINUTE")).flatMap(\.self), wait > 0 {
            data[DataKey.textWait] = .string(String(wait))
        }
        var content = Content(
            title: message.title,
            body: message.body,
            badge: !settings.version.countsBadges && number > 0 ? number : nil,
            sound: try parameters.text("SOUNDFILE"),
            data: data
        )
        content.badgeStep = settings.version.countsBadges && number > 0 ? number : nil
        content.isTemplate = parameters.flag("TEMPLATE_YN")
        return (content, try pageFor(&content))
    }

    /// If the message does not fit in a push because of `EXT`, that text is published as a page and replaced by the page's address.
    private func pageFor(_ content: inout Content) throws(AdapterError) -> PageDraft? {
        guard !UPMCPayload.fits(content, settings) else { return nil }
        let extra = content.data[DataKey.extra]?.string ?? ""
        let name = KoreanTime(receivedAt).pageName + "_msp.html"
        content.data[DataKey.extra] = ""
        content.page = PageReference(id: String(repeating: "0", count: 32), name: name)
        guard UPMCPayload.fits(content, settings) else {
            throw AdapterError(.tooLarge, field: "MESSAGE")
        }
        content.page = nil
        guard !extra.isEmpty, settings.publicURL != nil else { throw AdapterError(.tooLarge, field: "EXT") }
        // The apps percent-decode the page that they fetch (docs/contracts/upmc.md#1.10.1).
        return PageDraft(name: name, body: PercentCoding.encode(extra))
    }
}

/// The keys of a message's data that this adapter stores.
enum DataKey {
    static let extra = "ext"
    static let sender = "sender"
    static let isStored = "dbIn"
    static let source = "message"
    static let service = "serviceCode"
    static let isBatch = "batch"
    static let textsOnFailure = "smsOnFailure"
    static let textWait = "smsReadWait"
}
