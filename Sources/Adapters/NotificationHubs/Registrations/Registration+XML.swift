import Model

// The XML form: an Atom entry with a description whose elements have a fixed order (docs/contracts/notificationhubs.md#5.2).
extension Registration {
    private static let native = "AppleRegistrationDescription"
    private static let filled = "AppleTemplateRegistrationDescription"

    /// Reads the registration `id` from a body.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    init(id: String, xml body: [UInt8], at time: Timestamp) throws(AdapterError) {
        try self.init(id: id, description: try Self.description(body), at: time)
    }

    /// Reads the registration `id` from its description.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    init(id: String, description: XMLElement, at time: Timestamp) throws(AdapterError) {
        // Older clients send the kind in addition to the element (docs/contracts/notificationhubs.md#5.2).
        let bare = Self.kind(description)
        guard bare == Self.native || bare == Self.filled else {
            throw Self.fault("The registration '\(bare.prefix(64))' is not available on this gateway")
        }
        func text(_ name: String) -> String? {
            guard let child = description.child(name), child.attributes["nil"] != "true" else { return nil }
            return child.text
        }
        let channel = Self.trimmed(text("DeviceToken") ?? "")
        self.init(id: id, channel: channel, token: try Installation.token(channel, .apns), updatedAt: time)
        tags = try Self.tags(text("Tags") ?? "")
        pushVariables = try Self.variables(text("PushVariables") ?? "")
        guard bare == Self.filled else { return }
        guard let body = text("BodyTemplate"), !body.isEmpty else {
            throw AdapterError(.missing, field: "BodyTemplate")
        }
        var template = Template(name: text("TemplateName"), body: body)
        if let name = template.name {
            guard !name.isEmpty, name.count <= HubsLimits.templateNameCharacters else {
                throw Self.fault("The name of a template is not valid")
            }
        }
        template.expiry = try Self.filledIn(text("Expiry"), "Expiry")
        template.priority = try Self.filledIn(text("Priority"), "Priority")
        template.headers = try Self.headers(description.child("ApnsHeaders"))
        self.template = template
    }

    private static func fault(_ text: String) -> AdapterError { AdapterError(.invalid, field: text) }

    /// The kind of a description, such as `AppleRegistrationDescription`, without a prefix.
    static func kind(_ description: XMLElement) -> String {
        let isNamed = description.name != "RegistrationDescription"
        let kind = isNamed ? description.name : description.attributes["type"] ?? ""
        guard kind.utf8.contains(UInt8(ascii: ":")) else { return kind }
        return kind.split(separator: ":").last.map(String.init) ?? ""
    }

    /// The parts of a text between commas, without white space around them.
    static func parts(_ text: String) -> [String] {
        // In ASCII each comma is a character of its own, so that characters need not be found.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return text.split(separator: ",").map { trimmed(String($0)) } }
        return text.utf8.split(separator: UInt8(ascii: ",")).map { trimmed(String(Substring($0))) }
    }

    static func trimmed(_ text: String) -> String {
        // Most texts begin and end with visible ASCII.
        if let first = text.utf8.first, let last = text.utf8.last, isVisible(first), isVisible(last) { return text }
        let head = text.drop { $0.isWhitespace }
        guard let last = head.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(head[...last])
    }

    private static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }

    static func description(_ body: [UInt8]) throws(AdapterError) -> XMLElement {
        let root: XMLElement
        do throws(XMLReader.Fault) {
            root = try XMLReader.read(body)
        } catch {
            throw AdapterError(.unreadable, field: error == .tooLarge ? "The body is too large" : "The body is not XML")
        }
        guard root.name == "entry" else { return root }
        guard let description = root.child("content")?.children.first else {
            throw AdapterError(.missing, field: "content")
        }
        return description
    }

    /// A number or an expression; an empty text is an error (docs/contracts/notificationhubs.md#5.2).
    private static func filledIn(_ text: String?, _ name: String) throws(AdapterError) -> String? {
        guard let text else { return nil }
        guard !trimmed(text).isEmpty else { throw fault("The value of \(name) is empty") }
        if name == "Priority", !"$.%#{".contains(text.first ?? " ") {
            guard let number = Int(text), (0...255).contains(number) else {
                throw fault("The value of \(name) is not valid")
            }
        }
        return text
    }

    /// Tags separated by commas. A client may name its own installation and user; other `$…` tags are reserved (docs/contracts/notificationhubs.md#5).
    private static func tags(_ text: String) throws(AdapterError) -> [String] {
        var seen: Set<Tag> = []
        var tags: [String] = []
        var special: [String] = []
        for written in parts(text) where !written.isEmpty {
            guard let tag = Tag(written) else {
                guard !written.hasPrefix("$") else { throw fault("Tags can not start with $") }
                throw fault("The tag '\(written.prefix(64))' is not valid")
            }
            guard seen.insert(tag).inserted else { continue }
            if tag.isSystem { special.append(String(tag.text.prefix { $0 != ":" })) }
            tags.append(written)
        }
        guard Set(special).count == special.count else { throw fault("There may be one installation and one user") }
        guard tags.count <= HubsLimits.tagCount else {
            throw fault("There may be at most \(HubsLimits.tagCount) tags")
        }
        return tags
    }

    static func variables(_ text: String) throws(AdapterError) -> JSONObject {
        guard !trimmed(text).isEmpty else { return JSONObject() }
        guard let object = (try? JSONParser.parse(text))?.object, object.pairs.allSatisfy({ $0.value.string != nil })
        else { throw fault("The value of PushVariables is not an object of strings") }
        return object
    }

    private static func headers(_ element: XMLElement?) throws(AdapterError) -> JSONObject {
        var headers = JSONObject()
        for header in element?.children ?? [] {
            let name = trimmed(header.child("Header")?.text ?? "")
            guard name.lowercased().hasPrefix("apns-") else {
                throw fault("A header of a template does not begin with apns-")
            }
            headers[name] = .string(header.child("Value")?.text ?? "")
        }
        return headers
    }

    // MARK: Writing

    private static let connect = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    private static let schema = "http://www.w3.org/2001/XMLSchema-instance"
    private static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
    static let atom = "http://www.w3.org/2005/Atom"

    /// The version as it is written in a header.
    var weakTag: String { "W/\"\(etag)\"" }

    /// The entry as a separate answer, or without its namespace for a feed. `place` is its address.
    func entry(at place: String, isAlone: Bool) -> String {
        let space = isAlone ? " xmlns=\"\(Self.atom)\"" : ""
        let time = HubTime.iso(updatedAt)
        let link = XMLText.attribute(place)
        return
            "<entry a:etag=\"\(XMLText.attribute(weakTag))\"\(space) xmlns:a=\"\(Self.metadata)\"><id>\(XMLText.escape(place))</id>"
            + "<title type=\"text\">\(XMLText.escape(id))</title><published>\(time)</published><updated>\(time)</updated>"
            + "<link rel=\"self\" href=\"\(link)\"/><content type=\"application/xml\">\(description)</content></entry>"
    }

    /// The elements are in the order that .NET's reader needs.
    var description: String {
        let name = template == nil ? Self.native : Self.filled
        func element(_ name: String, _ text: String) -> String { "<\(name)>\(XMLText.escape(text))</\(name)>" }
        // The iOS SDK requires the time zone (docs/contracts/notificationhubs.md#5.2).
        var text =
            "<\(name) xmlns=\"\(Self.connect)\" xmlns:i=\"\(Self.schema)\"><ETag>\(etag)</ETag>"
            + "<ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime>" + element("RegistrationId", id)
        if !tags.isEmpty { text += element("Tags", tags.joined(separator: ",")) }
        if !pushVariables.isEmpty { text += element("PushVariables", JSONWriter.text(.object(pushVariables))) }
        text += element("DeviceToken", channel)
        if let template {
            text += "<BodyTemplate>\(XMLText.verbatim(template.body))</BodyTemplate>"
            text += template.expiry.map { element("Expiry", $0) } ?? "<Expiry i:nil=\"true\"/>"
            if let name = template.name { text += element("TemplateName", name) }
            if let priority = template.priority { text += element("Priority", priority) }
            let headers = template.headers.pairs.map { name, value in
                "<ApnsHeader>\(element("Header", name))\(element("Value", value.string ?? ""))</ApnsHeader>"
            }
            text += "<ApnsHeaders>\(headers.joined())</ApnsHeaders>"
        }
        return text + "</\(name)>"
    }
}
