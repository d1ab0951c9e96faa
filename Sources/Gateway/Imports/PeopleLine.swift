import Commands
package import Model

/// A user as a line of a tenant's export.
package enum UserLine {
    package static func text(_ user: ImportedUser) -> String {
        var line: JSONObject = ["user": .string(user.user.rawValue)]
        if user.isAnonymous { line["anonymous"] = true }
        line["acceptsPush"] = user.acceptsPush.map { .bool($0) }
        if user.isOptedIn { line["optedIn"] = true }
        if !user.attributes.isEmpty { line["attributes"] = .object(user.attributes) }
        if !user.consents.isEmpty { line["consents"] = RecordedConsent.json(user.consents) }
        if !user.aliases.isEmpty {
            line["aliases"] = .array(user.aliases.map { ["label": .string($0.label), "name": .string($0.name)] })
        }
        return JSONWriter.text(.object(line))
    }

    /// - Throws: `DeviceLine.Fault` that names the field.
    package static func user(_ record: [UInt8]) throws(DeviceLine.Fault) -> ImportedUser {
        let fields = try DeviceLine.fields(json: record)
        let known: Set = ["user", "anonymous", "acceptsPush", "optedIn", "attributes", "consents", "aliases"]
        if let other = fields.keys.filter({ !known.contains($0) }).min() {
            throw DeviceLine.Fault(reason: "'\(other.prefix(64))' is not a field of a user")
        }
        guard let id = try DeviceLine.text("user", fields) else { throw DeviceLine.Fault(reason: "user: is missing") }
        var user = ImportedUser(user: UserID(id))
        user.isAnonymous = try DeviceLine.flag("anonymous", fields) ?? false
        user.acceptsPush = try DeviceLine.flag("acceptsPush", fields)
        user.isOptedIn = try DeviceLine.flag("optedIn", fields) ?? false
        if let value = fields["attributes"] {
            guard let object = value.object else { throw DeviceLine.Fault(reason: "attributes: must be an object") }
            user.attributes = object
        }
        user.consents = try DeviceLine.consents(fields)
        for alias in fields["aliases"]?.array ?? [] {
            guard let label = alias["label"]?.string, let name = alias["name"]?.string else {
                throw DeviceLine.Fault(reason: "aliases: each needs a label and a name")
            }
            user.aliases.append(UserAlias(label: label, name: name))
        }
        if let field = UserImportRules.unstorableField(user) {
            throw DeviceLine.Fault(reason: "\(field): is too long or cannot be stored")
        }
        return user
    }
}

/// A group with some of its members as a line of a tenant's export. A group with many members has several lines.
package enum GroupLine {
    /// 500 members per line.
    package static let memberCount = 500

    /// A group and some of its members.
    package struct Part: Sendable, Hashable {
        package var name: GroupName
        /// Of a group whose name is a number.
        package var title: String?
        package var members: [UserID]

        package init(_ name: GroupName, title: String? = nil, members: [UserID]) {
            self.name = name
            self.title = title
            self.members = members
        }
    }

    package static func text(_ part: Part) -> String {
        var line: JSONObject = ["group": .string(part.name.rawValue)]
        line["title"] = part.title.map { .string($0) }
        line["members"] = .array(part.members.map { .string($0.rawValue) })
        return JSONWriter.text(.object(line))
    }

    /// - Throws: `DeviceLine.Fault` that names the field.
    package static func part(_ record: [UInt8]) throws(DeviceLine.Fault) -> Part {
        let fields = try DeviceLine.fields(json: record)
        let title = try DeviceLine.text("title", fields)
        guard let name = try DeviceLine.text("group", fields).map({ GroupName($0) }),
            UserImportRules.isStorable(name, title: title)
        else { throw DeviceLine.Fault(reason: "group: is missing or cannot be stored") }
        guard let list = fields["members"]?.array, list.count <= memberCount else {
            throw DeviceLine.Fault(reason: "members: must be a list of at most \(memberCount) users")
        }
        var members: [UserID] = []
        for element in list {
            guard let id = element.string.map({ UserID($0) }), UserImportRules.isStorable(id) else {
                throw DeviceLine.Fault(reason: "members: must be users")
            }
            members.append(id)
        }
        return Part(name, title: title, members: members)
    }
}
