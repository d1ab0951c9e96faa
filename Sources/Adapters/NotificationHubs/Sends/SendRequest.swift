import ApplePayload
import HTTPTypes
import Model

/// `POST /{hub}/messages`: a native notification to the devices that match its tags, or to one device by its handle
/// (docs/contracts/notificationhubs.md#7); the same at a later time, by `POST /{hub}/schedulednotifications` (docs/contracts/notificationhubs.md#7.5);
/// or to many handles, by `POST /{hub}/messages/$batch` (docs/contracts/notificationhubs.md#7.4).
struct SendRequest {
    /// The call by which the send was made.
    enum Kind { case now, schedule, batch }

    static let tagsHeader = "ServiceBusNotification-Tags"

    private let request: VendorRequest
    private let settings: HubsSettings
    private let kind: Kind

    init(_ request: VendorRequest, settings: HubsSettings, kind: Kind = .now) {
        self.request = request
        self.settings = settings
        self.kind = kind
    }

    /// The handles of a batch are registered first if they are unknown. A single handle is mostly known, so it is registered only if it was not found.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    func commands() throws(AdapterError) -> [Command] {
        let submission = try submission()
        let handles = kind == .batch ? submission.numbering?.tokens ?? [] : []
        return DirectHandle.introduction(of: handles, settings, at: request.receivedAt) + [
            .submission(.submit(submission))
        ]
    }

    /// - Throws: `AdapterError` for a call that `commands` would refuse.
    func sequel(to replies: [Reply]) throws(AdapterError) -> [Command] {
        guard case .refused(.noRecipients)? = replies.first, kind != .batch, isDirect else { return [] }
        let submission = try submission()
        let handles = submission.numbering?.tokens ?? []
        return DirectHandle.introduction(of: handles, settings, at: request.receivedAt) + [
            .submission(.submit(submission))
        ]
    }

    private func submission() throws(AdapterError) -> Submission {
        // The route's limit is the one for batches.
        guard kind == .batch || request.body.count <= HubsLimits.bodyBytes else { throw AdapterError(.tooLarge) }
        let isTemplate = try isTemplate()
        guard request.parameter("test") == nil else { throw Self.fault("Test sends are not available on this gateway") }
        let head = try PushHeaders(request, settings)
        let batch = kind == .batch ? try batch() : nil
        let dueAt = kind == .schedule ? try scheduleTime() : nil
        var submission = Submission(
            content: try isTemplate ? templateContent(head) : content(head, batch?.notification ?? request.body),
            audience: .everyone,
            timing: SubmissionTiming(dueAt: dueAt, timeToLive: head.timeToLive(from: dueAt ?? request.receivedAt)),
            collapseID: head.collapseID
        )
        if isTemplate {
            guard !isDirect, kind != .batch else { throw Self.fault("A direct send has a native format") }
            submission.audience = .tags(try variants().overVariants.narrowed(to: Tag(Platform.ios)))
        } else if let batch {
            submission.numbering = Numbering(tokens: try Self.handles(batch.devices))
            submission.lane = .transactional
        } else if isDirect {
            submission.numbering = Numbering(tokens: [try handle()])
            submission.lane = .transactional
        } else {
            submission.audience = .tags(try audience())
        }
        return submission
    }

    private static func fault(_ text: String) -> AdapterError { AdapterError(.invalid, field: text) }

    private static let formats: Set<String> = [
        "gcm", "fcm", "fcmv1", "windows", "windowsphone", "adm", "baidu", "browser",
    ]

    /// Whether templates are filled; otherwise the body is sent unchanged.
    private func isTemplate() throws(AdapterError) -> Bool {
        let name = "ServiceBusNotification-Format"
        guard let format = request.header(name), !format.isEmpty else { throw AdapterError(.missing, field: name) }
        switch format.lowercased() {
        case "apple": return false
        case "template": return true
        default: break  // any other format is refused
        }
        guard Self.formats.contains(format.lowercased()) else {
            throw Self.fault("The notification format '\(format.prefix(32))' is not known")
        }
        throw Self.fault("The notification format '\(format)' is not available on this gateway")
    }

    /// From five minutes to seven days ahead (docs/contracts/notificationhubs.md#7.5).
    private func scheduleTime() throws(AdapterError) -> Timestamp {
        let name = "ServiceBusNotification-ScheduleTime"
        guard let text = request.header(name), !text.isEmpty else { throw AdapterError(.missing, field: name) }
        guard let time = HubTime.parse(text) else { throw Self.fault("The value of \(name) is not valid") }
        let (first, last) = (HubsLimits.scheduleLead, HubsLimits.scheduleAhead)
        guard (request.receivedAt + first...request.receivedAt + last).contains(time) else {
            throw Self.fault("The value of \(name) is not between 5 minutes and 7 days from now")
        }
        return time
    }

    private var isDirect: Bool { request.isDirectSend }

    private func handle() throws(AdapterError) -> DeviceToken {
        let name = "ServiceBusNotification-DeviceHandle"
        guard let handle = request.header(name), !handle.isEmpty else { throw AdapterError(.missing, field: name) }
        return try Installation.token(handle, .apns)
    }

    /// Assumed: a batch without `direct` is refused.
    private func batch() throws(AdapterError) -> BatchBody {
        guard isDirect else { throw Self.fault("A batch is a direct send") }
        return try BatchBody(request.body, contentType: request.header("Content-Type") ?? "")
    }

    /// One invalid handle refuses the whole batch (Assumed).
    private static func handles(_ body: [UInt8]) throws(AdapterError) -> [DeviceToken] {
        guard let json = try? JSONParser.parse(body), let list = json.array else {
            throw AdapterError(.unreadable, field: "The devices are not a JSON array")
        }
        guard (1...HubsLimits.batchCount).contains(list.count) else {
            throw fault("There may be 1 to \(HubsLimits.batchCount) devices in a batch")
        }
        var seen: Set<DeviceToken> = []
        var handles: [DeviceToken] = []
        for element in list {
            guard let text = element.string else { throw fault("A device of the batch is not a string") }
            let handle = try Installation.token(text, .apns)
            if seen.insert(handle).inserted { handles.append(handle) }
        }
        return handles
    }

    /// All devices of the format's platform, or those that match the tags. Blank tags are refused (docs/contracts/notificationhubs.md#6).
    private func audience() throws(AdapterError) -> TagExpression {
        let platform = Tag(Platform.ios)
        let meant = try expression()?.narrowed(to: platform) ?? TagExpression(platform)
        // Native sends do not reach template registrations (docs/contracts/notificationhubs.md#7).
        return meant.excluding(.onlyVariants)
    }

    /// The templates that match, by the tags of an installation and of each of its templates together (docs/contracts/notificationhubs.md#6.2).
    private func variants() throws(AdapterError) -> TagExpression { try expression() ?? TagExpression(.hasVariants) }

    /// The expression of the caller's tags; nil: all devices.
    private func expression() throws(AdapterError) -> TagExpression? {
        guard let text = request.header(Self.tagsHeader) else { return nil }
        do throws(TagExpression.Fault) {
            return try TagExpression(text)
        } catch {
            switch error.code {
            case .tooManyTags:
                throw Self.fault("The supplied tag expression is not valid: it has too many tags")
            case .empty, .tooLong, .character, .syntax, .tooDeep:
                throw Self.fault("The supplied tag expression is not valid at position \(error.offset)")
            }
        }
    }

    /// The body is sent byte for byte: it is stored as text if the gateway's JSON writer would write it differently.
    private func content(_ head: PushHeaders, _ body: [UInt8]) throws(AdapterError) -> Content {
        guard let text = String(validating: body, as: UTF8.self), let json = Self.object(body) else {
            throw AdapterError(.unreadable, field: "The payload is not a JSON object")
        }
        let type = head.type ?? RawPayload.inferredType(of: json)
        let limit = type.maxPayloadBytes
        guard body.count <= limit else { throw Self.fault("The payload is larger than \(limit) bytes") }
        var content = Content(isSilent: type == .background, raw: .object(json))
        content.data = HubsPayload.data(type: type, priority: head.priority, end: head.end)
        if JSONWriter.bytes(.object(json)) != body { content.data[HubsPayload.textKey] = .string(text) }
        return content
    }

    /// The values for the templates. Assumed: a number counts as a text.
    private func templateContent(_ head: PushHeaders) throws(AdapterError) -> Content {
        guard let values = Self.object(request.body), values.pairs.allSatisfy({ $0.value.lenientString != nil }) else {
            throw AdapterError(.unreadable, field: "The properties are not a JSON object of strings")
        }
        var content = Content(raw: .object(values))
        content.data = HubsPayload.data(type: head.type, priority: head.priority, end: head.end)
        content.variants = TagTerms(try variants())
        guard content.variants != nil else {
            throw Self.fault("The supplied tag expression is not valid: it has too many tags")
        }
        return content
    }

    private static func object(_ body: [UInt8]) -> JSONObject? {
        do throws(JSONError) {
            return try JSONParser.parse(body).object
        } catch {
            return nil
        }
    }
}

extension VendorRequest {
    /// `direct`, with or without a value, at any position of the query (docs/contracts/notificationhubs.md#7.2).
    var isDirectSend: Bool { parameter("direct").map { $0.lowercased() != "false" } ?? false }
}
