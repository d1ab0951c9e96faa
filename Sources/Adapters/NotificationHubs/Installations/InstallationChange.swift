import Model

/// One operation of a partial update: `{"op":"add","path":"/tags","value":"busan"}` (docs/contracts/notificationhubs.md#4.3).
struct InstallationChange: Hashable {
    enum Operation: String {
        case add, remove, replace
    }

    let operation: Operation
    /// With `~1` and `~0` decoded (RFC 6901).
    let path: [String]
    private let written: String
    let value: JSON?

    /// - Throws: `AdapterError` with the text of the answer.
    init(_ json: JSON) throws(AdapterError) {
        guard let name = json["op"]?.string, let operation = Operation(rawValue: name.lowercased()) else {
            throw AdapterError(.invalid, field: "The operation of a change is not valid")
        }
        guard let written = json["path"]?.string, !written.isEmpty else { throw AdapterError(.missing, field: "path") }
        self.operation = operation
        self.written = String(written.prefix(128))
        path = written.split(separator: "/").map {
            String($0).replacing("~1", with: "/").replacing("~0", with: "~")
        }
        value = json["value"]
        if operation != .remove, value == nil { throw AdapterError(.missing, field: "value") }
    }

    /// Applies the change to the body of an installation.
    ///
    /// - Throws: `AdapterError` for an unknown path, or a value that does not fit it.
    func apply(to body: inout JSONObject) throws(AdapterError) {
        switch (path.first?.lowercased(), path.count) {
        case ("pushchannel", 1) where operation != .remove: body["pushChannel"] = value
        case ("userid", 1), ("user", 1): body["userId"] = isRemoval ? nil : value
        case ("expirationtime", 1): body["expirationTime"] = isRemoval ? nil : value
        case ("tags", 1): try changeTags(&body)
        case ("tags", 2): try changeTag(&body)
        case ("pushvariables", 1): body["pushVariables"] = isRemoval ? nil : try structured()
        case ("pushvariables", 2): set(path[1], in: "pushVariables", of: &body, value)
        case ("templates", 1): body["templates"] = isRemoval ? nil : try structured()
        case ("templates", 2): set(path[1], in: "templates", of: &body, isRemoval ? nil : try structured())
        case ("templates", 3): try changeTemplate(&body)
        case ("secondarytiles", 1): body["secondaryTiles"] = isRemoval ? nil : try structured()
        case ("secondarytiles", 2): set(path[1], in: "secondaryTiles", of: &body, isRemoval ? nil : try structured())
        default: throw unsupported  // any other path
        }
    }

    private var isRemoval: Bool { operation == .remove }

    private var unsupported: AdapterError {
        AdapterError(.invalid, field: "The patch path '\(written)' is not supported")
    }

    /// An object or an array, also if it was sent as a text that contains JSON, as .NET does.
    private func structured() throws(AdapterError) -> JSON {
        guard let text = value?.string else { return value ?? .null }
        do throws(JSONError) {
            return try JSONParser.parse(text)
        } catch {
            throw AdapterError(.invalid, field: "The value of '\(written)' is not JSON")
        }
    }

    /// Sets a value, or removes it for a removal. An object that becomes empty is removed.
    private func set(_ key: String, in member: String, of body: inout JSONObject, _ value: JSON?) {
        var object = body[member]?.object ?? JSONObject()
        object[key] = isRemoval ? nil : value
        body[member] = object.isEmpty ? nil : .object(object)
    }

    /// A list replaces all tags, a text adds one. `replace` removes and adds.
    private func changeTags(_ body: inout JSONObject) throws(AdapterError) {
        if isRemoval {
            body["tags"] = nil
            return
        }
        if case .array? = value {
            body["tags"] = value
            return
        }
        // A text with a comma stays one tag, and is then refused as a tag (docs/contracts/notificationhubs.md#4.3).
        let others = operation == .replace ? [] : body["tags"]?.array ?? []
        body["tags"] = .array(others + (value.map { [$0] } ?? []))
    }

    private func changeTag(_ body: inout JSONObject) throws(AdapterError) {
        guard isRemoval else { throw unsupported }
        let leaving = Tag(path[1])
        let left = (body["tags"]?.array ?? []).filter { $0.string.flatMap { Tag($0) } != leaving }
        body["tags"] = left.isEmpty ? nil : .array(left)
    }

    private func changeTemplate(_ body: inout JSONObject) throws(AdapterError) {
        guard var templates = body["templates"]?.object, var template = templates[path[1]]?.object else {
            throw AdapterError(.invalid, field: "The template '\(path[1].prefix(64))' does not exist")
        }
        switch path[2].lowercased() {
        case "body" where !isRemoval: template["body"] = value
        case "expiry": template["expiry"] = isRemoval ? nil : value
        case "headers": template["headers"] = isRemoval ? nil : try structured()
        case "tags":
            // A single tag, or a list of tags.
            if let text = value?.string, !text.hasPrefix("["), !isRemoval {
                template["tags"] = .array((template["tags"]?.array ?? []) + [.string(text)])
            } else {
                template["tags"] = isRemoval ? nil : try structured()
            }
        default: throw unsupported  // any other part of a template
        }
        templates[path[1]] = .object(template)
        body["templates"] = .object(templates)
    }
}
