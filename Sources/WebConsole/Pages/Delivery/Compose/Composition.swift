import Crypto
import FoundationEssentials
import Model
import PageParts

/// A message that is being composed: the fields of the form, as they were typed.
struct Composition: Sendable, Hashable {
    enum Audience: String, Sendable, Hashable, CaseIterable { case search, group, tags, everyone, devices }
    enum Due: String, Sendable, Hashable, CaseIterable { case now, at, local }

    /// The limits of the form. The native API has its own.
    enum Limits {
        /// 1,000 bytes: a title that more devices show than three lines.
        static let title = 1000
        /// 4,000 bytes: a body that no longer fits any payload.
        static let body = 4000
        /// Five searches: each is a call.
        static let searches = 5
        /// 100 devices found by searches. Each search returns at most 20.
        static let devices = 100
        /// 128 KiB of a form without a file: 16 KiB of a template and the texts, percent-coded, and the recipients.
        static let formBytes = 128 << 10
    }

    var app: String
    var audience: Audience?
    var search = ""
    var group = ""
    var tags = ""
    /// The devices that a search found, when the message is reviewed.
    var devices: [String] = []
    var title = ""
    var body = ""
    /// The SHA-256 of a stored image.
    var image = ""
    var campaign = ""
    /// Whether it is sent before all others.
    var isUrgent = false
    var variables: [String: String] = [:]
    var due = Due.now
    /// A time in the zone of the page.
    var at = ""
    /// A time on the clock of each device.
    var local = ""
    /// The members of a template's content that the form does not have, such as `data` and `apns`.
    var more = JSONObject()

    init(app: String) { self.app = app }

    /// The fields of a sent form.
    init(app: String, _ fields: FormFields) {
        self.init(app: app)
        audience = fields["audience"].flatMap(Audience.init(rawValue:))
        search = fields["search"] ?? ""
        group = fields["group"] ?? ""
        tags = fields["tags"] ?? ""
        devices = (fields["devices"] ?? "").split(separator: " ").prefix(Limits.devices).map(String.init)
        title = fields["title"] ?? ""
        body = (fields["body"] ?? "").replacing("\r\n", with: "\n")
        image = fields["image"] ?? ""
        if let bytes = fields.file("upload"), !bytes.isEmpty { image = Self.hash(bytes) }
        campaign = fields["campaign"] ?? ""
        isUrgent = !(fields["urgent"] ?? "").isEmpty
        for name in names { variables[name] = fields[Self.field(of: name)] ?? "" }
        due = fields["when"].flatMap(Due.init(rawValue:)) ?? .now
        at = fields["at"] ?? ""
        local = fields["local"] ?? ""
        more = Self.others(of: fields["more"].flatMap { try? JSONParser.parse($0) })
    }

    /// A stored template or draft, or an earlier message.
    init(app: String, content: JSON) {
        self.init(app: app)
        title = content["title"]?.string ?? ""
        body = content["body"]?.string ?? ""
        image = content["image"]?.string ?? ""
        campaign = content["campaign"]?.string ?? ""
        isUrgent = content["urgent"]?.bool == true
        let form = content["compose"]
        audience = form?["audience"]?.string.flatMap(Audience.init(rawValue:))
        group = form?["group"]?.string ?? ""
        tags = form?["tags"]?.string ?? ""
        due = form?["when"]?.string.flatMap(Due.init(rawValue:)) ?? .now
        at = form?["at"]?.string ?? ""
        local = form?["local"]?.string ?? ""
        more = Self.others(of: content)
    }

    /// The members of a stored content that the form has.
    static let members: Set<String> = ["title", "body", "image", "campaign", "urgent", "compose"]

    /// The members of a message that are chosen for each message, whatever a template says.
    private static let chosen: Set<String> = ["app", "to", "sendAt"]

    /// The members of a stored content that the form does not have.
    private static func others(of content: JSON?) -> JSONObject {
        let pairs = (content?.object?.pairs ?? []).filter { !members.contains($0.key) && !chosen.contains($0.key) }
        return JSONObject(pairs.map { ($0.key, $0.value) })
    }

    /// The members that the form does not have, as a hidden field; empty: there are none.
    var hidden: [(String, String)] { more.isEmpty ? [] : [("more", JSONWriter.text(.object(more)))] }

    /// The content of a template or draft.
    var content: JSON {
        var object = JSONObject([("title", .string(title)), ("body", .string(body))])
        if !image.isEmpty { object["image"] = .string(image) }
        if !campaign.isEmpty { object["campaign"] = .string(campaign) }
        if isUrgent { object["urgent"] = .bool(true) }
        // A variant is a part of a campaign: without one the API refuses it.
        for (name, value) in more.pairs where name != "variant" || !campaign.isEmpty { object[name] = value }
        return .object(object)
    }

    /// The content of a draft, with what a template leaves open. A search is not kept: it names people, and a draft would outlive their erasure.
    var draft: JSON {
        guard case .object(var object) = content else { return content }
        object["compose"] = .object(
            JSONObject([
                ("audience", audience.map { .string($0.rawValue) } ?? .null), ("group", .string(group)),
                ("tags", .string(tags)), ("when", .string(due.rawValue)), ("at", .string(at)),
                ("local", .string(local)),
            ])
        )
        return .object(object)
    }

    /// The names of the variables of title and body.
    var names: [String] { Variables.names(in: title, body) }
    /// The form's field of a variable.
    static func field(of variable: String) -> String { "var-" + variable }

    /// The host of an image that is an address instead of a hash. The native API refuses such an image in a message, but stores templates unchanged.
    var imageHost: String? {
        guard let start = image.firstRange(of: "://")?.upperBound else { return nil }
        let authority = image[start...].prefix { !"/?#\\".contains($0) }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
        return host.isEmpty ? nil : Sending.line(String(host))
    }

    /// Whether it lacks a text. A complete payload has its own, and a silent message shows none.
    var isEmpty: Bool {
        title.trimmed.isEmpty && body.trimmed.isEmpty && more["raw"]?.object == nil && more["silent"]?.bool != true
    }

    var filledTitle: String { Variables.fill(title, variables) }
    var filledBody: String { Variables.fill(body, variables) }

    static func hash(_ bytes: [UInt8]) -> String { HexCoding.encode(Array(SHA256.hash(data: bytes))) }

    // MARK: The message

    /// The texts that are looked up, one per line or between commas.
    var searches: [String] {
        let parts = search.split { $0.isNewline || $0 == "," || $0 == ";" }.map { part in
            String(part).trimmed
        }
        return Array(parts.filter { !$0.isEmpty }.prefix(Limits.searches + 1))
    }

    /// `to` of the message; nil: the recipients are not chosen.
    var recipients: JSON? {
        switch audience {
        case .search, .devices: devices.isEmpty ? nil : ["devices": .array(devices.map { .string($0) })]
        case .group: group.isEmpty ? nil : ["groups": [.string(group)]]
        case .tags: tags.trimmed.isEmpty ? nil : ["tags": .string(tags.trimmed)]
        case .everyone: ["everyone": true]
        case nil: nil
        }
    }

    /// Whether the recipients are named devices. The API does not read those to count them; the preferences of each are on its page.
    var isListed: Bool { audience == .search || audience == .devices }

    /// The moment at which it is due, for a time in the zone of the page.
    func moment(in zone: String) -> Timestamp? {
        LocalTime(at).map { $0.moment(in: TimeZoneName(stored: zone)) }
    }

    /// The message as the native API takes it. A message that is due now has a delay, so that sending can be undone; the delay is relative, so that a repeated
    /// request is the same.
    func message(to recipients: JSON, zone: String) -> JSON {
        var object = content.object ?? JSONObject()
        object["title"] = filledTitle.isEmpty ? nil : .string(filledTitle)
        object["body"] = .string(filledBody)
        var message = JSONObject([("app", .string(app)), ("to", recipients)])
        for (name, value) in object.pairs { message[name] = value }
        switch due {
        case .now: message["sendAt"] = ["after": .int(Sending.undoSeconds)]
        case .at: message["sendAt"] = moment(in: zone).map { .string($0.rfc3339) }
        case .local: message["sendAt"] = LocalTime(local).map { ["local": .string($0.description)] }
        }
        return .object(message)
    }

    /// The same message to the test devices, now.
    func test() -> JSON {
        var copy = self
        copy.due = .now
        guard case .object(var message) = copy.message(to: ["groups": [.string(Sending.testGroup)]], zone: "UTC") else {
            return .null
        }
        message["sendAt"] = nil
        return .object(message)
    }

    /// The corrections that are needed before it is sent, by field.
    func faults(_ language: Language, now: Timestamp, zone: String) -> [String: String] {
        var faults: [String: String] = [:]
        if audience == nil { faults["audience"] = ComposeText.chooseAudience(language) }
        if audience == .group, group.isEmpty { faults["group"] = ComposeText.chooseGroup(language) }
        if audience == .tags, tags.trimmed.isEmpty { faults["tags"] = ComposeText.stateTags(language) }
        if audience == .search {
            if searches.isEmpty { faults["search"] = ComposeText.stateSearch(language) }
            if searches.count > Limits.searches { faults["search"] = ComposeText.tooManySearches(language) }
        }
        if isEmpty { faults["body"] = ComposeText.stateText(language) }
        if title.utf8.count > Limits.title { faults["title"] = ComposeText.tooLong(Limits.title)(language) }
        if body.utf8.count > Limits.body { faults["body"] = ComposeText.tooLong(Limits.body)(language) }
        for name in names where (variables[name] ?? "").isEmpty {
            faults[Self.field(of: name)] = ComposeText.stateVariable(language)
        }
        switch due {
        case .now: break
        case .at:
            if let moment = moment(in: zone) {
                if moment < now { faults["at"] = ComposeText.past(language) }
            } else {
                faults["at"] = ComposeText.stateTime(language)
            }
        case .local:
            if let time = LocalTime(local) {
                if time.latest < now { faults["local"] = ComposeText.past(language) }
            } else {
                faults["local"] = ComposeText.stateTime(language)
            }
        }
        return faults
    }
}
