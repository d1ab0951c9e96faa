import HTTPTypes
import Model

/// Writes the calls by which the vendor's server sends a message to users, or to single devices of them (docs/contracts/upmc.md#1.9.1).
///
/// The message leaves when it is due and in the gateway's steps, so the calls have no `RESERVEDATE` and no pace. The vendor fills the placeholders of a
/// template, with the variables of the caller's list where it had one. An `EXT` that became a page is sent as the page's address. Fields of other interfaces
/// that the call cannot express are left out: subtitle, image, and a badge that is not counted as the version counts it.
struct UPMCSend {
    private let notification: Notification
    private let server: UPMCServer
    private let settings: UPMCSettings
    private let time: Timestamp

    private var content: Content { notification.content }
    /// Whether the message was sent in this dialect, so that its data has the dialect's keys.
    private var isOwn: Bool { notification.origin == .upmc }

    init(_ notification: Notification, through server: UPMCServer, settings: UPMCSettings, at time: Timestamp) {
        self.notification = notification
        self.server = server
        self.settings = settings
        self.time = time
    }

    /// The calls to all targets with a user. Where devices are named, their tokens must be known too.
    ///
    /// - Throws: `AdapterError` naming the parameter that cannot be expressed.
    func calls(to targets: [TargetFacts]) throws(AdapterError) -> [UpstreamCall] {
        // Without an application the vendor accepts no send.
        guard !settings.applicationID.isEmpty else { return [] }
        let groups = TargetGroups(targets) { target in
            guard !server.isByDevice || target.destination.token != nil else { return nil }
            return target.person.user?.rawValue
        }
        let fields = try fields()
        let isList = content.isTemplate && targets.contains { !$0.variables.isEmpty }
        let frame = fields.reduce(0) { $0 + $1.name.utf8.count + 3 * $1.value.utf8.count }
        let room = UPMCLimits.bodyBytes - frame - UPMCLimits.callFrameBytes
        return groups.calls(targets: UPMCLimits.upstreamTargets, bytes: room) { size(of: $0, targets, isList) }
            .map { groups in
                let names = isList ? [] : [UPMCField("TYPE", "E"), users(of: groups)]
                let all = names + fields + tokens(of: groups, targets)
                let request = isList ? list(all, rows(of: groups, targets)) : form(all)
                return UpstreamCall(request, to: groups)
            }
    }

    // MARK: Targets

    /// The encoded bytes of a group's user, row and tokens; more than they take where some need no escapes.
    private func size(of group: TargetGroups.Group, _ targets: [TargetFacts], _ isList: Bool) -> Int {
        let row = isList ? row(of: group, targets).utf8.count : 0
        let tokens = group.targets.reduce(0) { $0 + 3 * (targets[$1].destination.token?.text.utf8.count ?? 0) + 9 }
        return 3 * group.name.utf8.count + 9 + row + (server.isByDevice ? tokens : 0)
    }

    private func users(of groups: [TargetGroups.Group]) -> UPMCField {
        UPMCField("CUID", JSONWriter.text(.array(groups.map { JSON.string($0.name) })))
    }

    /// `REQ_PSIDS`. Assumed: the call with a list understands it too.
    private func tokens(of groups: [TargetGroups.Group], _ targets: [TargetFacts]) -> [UPMCField] {
        guard server.isByDevice else { return [] }
        let tokens = groups.flatMap(\.targets).compactMap { targets[$0].destination.token?.text }
        return [UPMCField("REQ_PSIDS", JSONWriter.text(.array(tokens.map { JSON.string($0) })))]
    }

    private func rows(of groups: [TargetGroups.Group], _ targets: [TargetFacts]) -> String {
        groups.map { row(of: $0, targets) }.joined()
    }

    /// `CUID,CNAME,VAR1…`, as far as the caller's list had values for the user (docs/contracts/upmc.md#1.9.3).
    private func row(of group: TargetGroups.Group, _ targets: [TargetFacts]) -> String {
        let variables = group.targets.first.map { targets[$0].variables } ?? JSONObject()
        var cells = [group.name]
        for column in 0..<(UPMCLimits.columnCount - 1) {
            guard let value = variables[column == 0 ? "CNAME" : "VAR\(column)"]?.string else { break }
            cells.append(value)
        }
        return cells.map(Self.quoted).joined(separator: ",") + "\r\n"
    }

    /// A line end would end the row.
    private static func quoted(_ cell: String) -> String {
        let line = String(cell.map { $0.isNewline ? " " : $0 })
        guard line.contains(where: { $0 == "," || $0 == "\"" }) else { return line }
        return "\"" + line.replacing("\"", with: "\"\"") + "\""
    }

    // MARK: Content

    private func fields() throws(AdapterError) -> [UPMCField] {
        guard content.raw == nil else { throw AdapterError(.invalid, field: "raw") }
        guard !content.isSilent else { throw AdapterError(.invalid, field: "silent") }
        guard content.activity == nil else { throw AdapterError(.invalid, field: "activity") }
        // The placeholders of other interfaces are not those of this one.
        guard isOwn || !content.isTemplate else { throw AdapterError(.invalid, field: "TEMPLATE_YN") }
        var fields = [
            UPMCField("MESSAGE", try message()), UPMCField("APP_ID", settings.applicationID),
            // Assumed: a send without a code is for all policies.
            UPMCField("SERVICECODE", own(DataKey.service) ?? "ALL"),
            UPMCField("SENDERCODE", own(DataKey.sender) ?? (isOwn ? "" : "admin")),
            UPMCField("PRIORITY", own(DataKey.isBatch) == "Y" ? "1" : "3"), UPMCField("BADGENO", String(badge)),
            UPMCField("RESERVEDATE", ""), UPMCField("EXT", try extra()),
            UPMCField("TEMPLATE_YN", content.isTemplate ? "Y" : "N"),
            UPMCField("SPLIT_MSG_CNT", "0"), UPMCField("DELAY_SECOND", "0"),
            UPMCField("PUSH_FAIL_SMS_SEND", ofWholeUsers(DataKey.textsOnFailure) ?? "N"),
        ]
        for (name, value) in [
            ("SOUNDFILE", content.sound), ("DB_IN", own(DataKey.isStored)),
            ("SMS_READ_WAIT_MINUTE", ofWholeUsers(DataKey.textWait)),
        ] {
            if let value { fields.append(UPMCField(name, value)) }
        }
        return fields
    }

    private func own(_ key: String) -> String? { isOwn ? content.data[key]?.string : nil }

    /// A field about text messages, which the vendor sends to a user and charges. Where calls name devices, those of a user may be in several calls or on
    /// another path, and each call would cause one.
    private func ofWholeUsers(_ key: String) -> String? { server.isByDevice ? nil : own(key) }

    /// The step of the counter, or up to 4.0 the number itself. The vendor counts on its own, so a user whose devices are on both sides has two counters.
    private var badge: Int {
        let number = (settings.version.countsBadges ? content.badgeStep : content.badge) ?? 0
        return (0...UPMCLimits.badge).contains(number) ? number : 0
    }

    /// `MESSAGE`, in the caller's spelling if it has one. A text that looks as if it was encoded twice is encoded once more, because a receiver decodes it
    /// again.
    private func message() throws(AdapterError) -> String {
        guard !content.body.isEmpty || content.title != nil else { throw AdapterError(.missing, field: "MESSAGE") }
        var text = own(DataKey.source) ?? plain
        if settings.decodesMessageTwice, PercentCoding.decodeAgain(text) != nil { text = PercentCoding.encode(text) }
        guard text.utf8.count <= UPMCLimits.textBytes else { throw AdapterError(.tooLarge, field: "MESSAGE") }
        // A receiver refuses a NUL, which only a text that was encoded twice can contain.
        guard !text.hasByte(0) else { throw AdapterError(.invalid, field: "MESSAGE") }
        return text
    }

    /// A text alone is sent as it is, unless a receiver would read it as title and body.
    private var plain: String {
        if let title = content.title {
            return JSONWriter.text(.pairs(["title": .string(title), "body": .string(content.body)]))
        }
        let isPlain = MessageText(content.body, decodesTwice: false).source == nil
        return isPlain ? content.body : JSONWriter.text(.pairs(["body": .string(content.body)]))
    }

    private func extra() throws(AdapterError) -> String {
        var text = own(DataKey.extra) ?? ""
        if let page = content.page, let url = settings.publicURL { text = "\(url)/r/\(page.id)/\(page.name)" }
        // Data of another interface, as in a push (docs/contracts/upmc.md#1.10.1).
        if !isOwn, !content.data.isEmpty { text = JSONWriter.text(.object(content.data)) }
        guard text.utf8.count <= UPMCLimits.textBytes else { throw AdapterError(.tooLarge, field: "EXT") }
        return text
    }

    // MARK: Requests

    private func form(_ fields: [UPMCField]) -> VendorRequest {
        let body = fields.map { "\($0.name)=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
        return request(.send, body, "application/x-www-form-urlencoded;charset=UTF-8")
    }

    /// The call with a list. The message's id was drawn after its text was written, so the text cannot contain the boundary.
    private func list(_ fields: [UPMCField], _ rows: String) -> VendorRequest {
        let boundary = "gateway-\(notification.message)"
        let head = "--\(boundary)\r\nContent-Disposition: form-data; name="
        let parts = ([UPMCField("TYPE", "C")] + fields).map { "\(head)\"\($0.name)\"\r\n\r\n\($0.value)\r\n" }
        let file = "\(head)\"upload_file\"; filename=\"list.csv\"\r\nContent-Type: text/csv\r\n\r\n\(rows)\r\n"
        let body = parts.joined() + file + "--\(boundary)--\r\n"
        return request(.sendToList, body, "multipart/form-data; boundary=\(boundary)")
    }

    private func request(_ call: UPMCCall, _ body: String, _ contentType: String) -> VendorRequest {
        var headers = HTTPFields()
        headers[.contentType] = contentType
        return VendorRequest(
            route: call.rawValue,
            path: server.basePath + call.path,
            headers: headers,
            body: Array(body.utf8),
            receivedAt: time
        )
    }
}

/// One parameter of a call.
private struct UPMCField {
    var name: String
    var value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
