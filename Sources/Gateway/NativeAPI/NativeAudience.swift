import AnswerShapes
import GatewayHTTP
import Model

/// The members of a message's `to`. Users, groups, tags and everyone cannot be combined; phones, keys and devices can be combined with each other.
struct AudienceFields: InputFields {
    let everyone = BodyField.optional("everyone", .flag, "Every device of the app.")
    let tags = BodyField.optional("tags", .tagExpression, "Devices whose tags satisfy the expression.")
    let groups = BodyField.optional(
        "groups",
        .list(.name.example("early birds"), limit: Audience.groupLimit),
        default: [],
        "Every device of the users in these groups."
    )
    let users = BodyField.optional(
        "users",
        .list(.name.example("u-1"), limit: Audience.listedLimit),
        default: [],
        "Every device of these users."
    )
    let phones = BodyField.optional("phones", .list(.name, limit: Audience.listedLimit), default: [], "Phone numbers.")
    let keys = BodyField.optional("keys", .list(.name, limit: Audience.listedLimit), default: [], "Devices' keys.")
    let devices = BodyField.optional(
        "devices",
        .list(.id(DeviceID.self), limit: Audience.listedLimit),
        default: [],
        "Devices' ids."
    )
}

extension InputKind where Value == String {
    fileprivate static let name = text(256, atLeast: 1)
}

extension InputKind where Value == Audience {
    /// `"everyone"`, or an object.
    static let audience: InputKind = {
        let object = InputKind.object(AudienceFields()) { (fields) throws(Problem) in try NativeAudience.read(fields) }
        let schema = JSONSchema.any(of: [object.schema.named("Audience"), .words(["everyone"])])
        return InputKind(schema.example(["users": ["u-1"]])) { (json, name) throws(Problem) in
            guard let word = json.string else { return try object.read(json, name) }
            guard word == "everyone" else { throw .invalid(name, "the only valid word is \"everyone\"") }
            return .everyone
        }
    }()
}

extension InputKind where Value == TagExpression {
    fileprivate static let tagExpression: InputKind = {
        let text = InputKind<String>.text(TagExpression.Limits().bytes).example("seoul && !quiet")
        return InputKind(text.schema) { (json, name) throws(Problem) in
            try NativeAudience.tags(try text.read(json, name), name)
        }
    }()
}

enum NativeAudience {
    static func read(_ fields: InputValues<AudienceFields>) throws(Problem) -> Audience {
        var kinds: [Audience] = []
        if try fields.everyone == true { kinds.append(.everyone) }
        if let tags = try fields.tags { kinds.append(.tags(tags)) }
        let groups = try fields.groups
        if !groups.isEmpty { kinds.append(.groups(groups.map { GroupName($0) })) }
        let users = try fields.users
        if !users.isEmpty { kinds.append(.users(users.map { UserID($0) })) }
        var listed = try fields.phones.map { Addressee(.phone($0)) }
        listed += try fields.keys.map { Addressee(.deviceKey(VendorDeviceKey($0))) }
        listed += try fields.devices.map { Addressee(.device($0)) }
        guard listed.count <= Audience.listedLimit else {
            throw .invalid("to", "at most \(Audience.listedLimit) addressees")
        }
        if !listed.isEmpty { kinds.append(.listed(listed)) }
        guard let audience = kinds.first else {
            throw .invalid("to", "is empty: use users, groups, tags, phones, devices, keys or everyone")
        }
        guard kinds.count == 1 else {
            throw .invalid(
                "to",
                "users, groups, tags and everyone cannot be combined; phones, devices and keys may be combined"
            )
        }
        return audience
    }

    fileprivate static func tags(_ text: String, _ name: String) throws(Problem) -> TagExpression {
        let limits = TagExpression.Limits()
        do throws(TagExpression.Fault) { return try TagExpression(text, limits: limits) } catch {
            let why =
                switch error.code {
                case .empty: "is empty"
                case .tooLong: "is longer than \(limits.bytes) bytes"
                case .character: "at character \(error.offset + 1): not a character of a tag or an operator"
                case .syntax: "at character \(error.offset + 1): a tag, an operator or a parenthesis is missing"
                case .tooDeep: "at character \(error.offset + 1): more than \(limits.depth) nested parentheses"
                case .tooManyTags:
                    "at most \(limits.tagsInUnion) tags joined by ||, or \(limits.tags) where other operators join them"
                }
            throw .invalid(name, why)
        }
    }
}
