import Model

/// `to` of a message: `"everyone"`, or an object with one of `everyone`, `tags`, `groups`, `users`, or with lists of `phones`, `keys` and `devices`.
enum NativeAudience {
    /// - Throws: `Problem` that names the field.
    static func read(_ json: JSON) throws(Problem) -> Audience {
        if let word = json.string {
            guard word == "everyone" else { throw .invalid("to", "the only word for it is \"everyone\"") }
            return .everyone
        }
        var fields = try RequestFields(json, path: "to")
        var kinds: [Audience] = []
        if try fields.flag("everyone") == true { kinds.append(.everyone) }
        if let text = try fields.text("tags", limit: TagExpression.Limits().bytes) {
            kinds.append(.tags(try tags(text)))
        }
        let groups = try fields.texts("groups", limit: Audience.groupLimit)
        if !groups.isEmpty { kinds.append(.groups(groups.map { GroupName($0) })) }
        let users = try fields.texts("users", limit: Audience.listedLimit)
        if !users.isEmpty { kinds.append(.users(users.map { UserID($0) })) }
        let listed = try listed(&fields)
        if !listed.isEmpty { kinds.append(.listed(listed)) }
        try fields.finish()
        guard let audience = kinds.first else {
            throw .invalid("to", "names nobody: use users, groups, tags, phones, devices, keys or everyone")
        }
        guard kinds.count == 1 else {
            throw .invalid(
                "to",
                "users, groups, tags and everyone stand alone; phones, devices and keys may stand together"
            )
        }
        return audience
    }

    private static func listed(_ fields: inout RequestFields) throws(Problem) -> [Addressee] {
        let limit = Audience.listedLimit
        var list = try fields.texts("phones", limit: limit).map { Addressee(.phone($0)) }
        list += try fields.texts("keys", limit: limit).map { Addressee(.deviceKey(VendorDeviceKey($0))) }
        for text in try fields.texts("devices", limit: limit) {
            guard let id = DeviceID(text: text) else {
                throw .invalid("to.devices", "'\(text.prefix(40))' is no device id")
            }
            list.append(Addressee(.device(id)))
        }
        guard list.count <= limit else { throw .invalid("to", "at most \(limit) addressees") }
        return list
    }

    private static func tags(_ text: String) throws(Problem) -> TagExpression {
        let limits = TagExpression.Limits()
        do throws(TagExpression.Fault) { return try TagExpression(text, limits: limits) } catch {
            let why =
                switch error.code {
                case .empty: "is empty"
                case .tooLong: "is longer than \(limits.bytes) bytes"
                case .character: "at character \(error.offset + 1): no tag or operator has that"
                case .syntax: "at character \(error.offset + 1): a tag, an operator or a parenthesis is missing"
                case .tooDeep:
                    "at character \(error.offset + 1): more than \(limits.depth) parentheses inside each other"
                case .tooManyTags:
                    "at most \(limits.tagsInUnion) tags joined by ||, or \(limits.tags) where others join them"
                }
            throw .invalid("to.tags", why)
        }
    }
}
