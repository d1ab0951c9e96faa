import Adapters
import AnswerShapes
import Commands
import GatewayHTTP
import Model

/// Inputs that many operations share.
enum CommonInputs {
    static let repeatKeyName = "Idempotency-Key"

    static let repeatKey = HeaderField.optional(
        repeatKeyName,
        .text(CommandLimits.keyBytes, atLeast: 1).example("order-4711"),
        "A repeated call with the same key receives the first answer, for at least 24 hours."
    )
    static let app = PathField.required("app", .app, "The app's id, as provisioned.")
    /// The filter of lists that cover all apps.
    static let appFilter = QueryField.optional("app", .app, "Only entries of this app.")
    static let vendor = QueryField.optional(
        "vendor",
        .vendor,
        default: .native,
        as: .string(Vendor.native.rawValue),
        "The vendor of the users and groups."
    )
    static let user = PathField.required("user", .user, "The user's id.")
    static let group = PathField.required("group", .group, "The group's name.")
    static let limit = QueryField.optional(
        "limit",
        .integer(1...NativeAPI.pageLimit),
        default: 100,
        as: 100,
        "The maximum number of entries per page."
    )
    /// `after` of a list that is paged by an id.
    static func after<ID: UUIDIdentifier>(_ type: ID.Type) -> InputField<ID?> {
        QueryField.optional("after", .id(type), after)
    }
    /// `after` of a list that is paged by a name.
    static let afterName = QueryField.optional("after", .text(256, atLeast: 1), after)
    private static let after = "`next` of the previous page."
}

// MARK: Kinds of values

extension InputKind where Value == AppID {
    /// 64 bytes, the limit of provisioning.
    static let app = InputKind<String>.text(64, atLeast: 1).example("shop").map("is not an app") { AppID($0) }
}

extension InputKind where Value == UserID {
    static let user = InputKind<String>.text(256, atLeast: 1).example("u-1").map("is not a user") { UserID($0) }
    /// For inputs that accept an empty text, which leaves the user unchanged.
    static let userOrEmpty = InputKind<String>.text(256).example("u-1").map("is not a user") { UserID($0) }
}

extension InputKind where Value == GroupName {
    static let group = InputKind<String>.text(128, atLeast: 1).example("early birds").map("is not a group") {
        GroupName($0)
    }
}

extension InputKind where Value == VendorDeviceKey {
    static let deviceKey = InputKind<String>.text(128, atLeast: 1).example("phone-1").map("is not a key") {
        VendorDeviceKey($0)
    }
}

extension InputKind where Value == Vendor {
    /// A vendor of this build.
    static let vendor = vendor(among: VendorCatalog.product.adapters.map(\.vendor))

    static func vendor(among vendors: [Vendor]) -> InputKind {
        InputKind<String>.word(among: vendors.map(\.rawValue).sorted()).map("is not a vendor") { Vendor($0) }
    }
}

extension InputKind where Value: UUIDIdentifier {
    /// An id that the gateway created.
    static func id(_ type: Value.Type) -> InputKind {
        InputKind(.uuid) { (json, name) throws(Problem) in
            guard let id = json.string.flatMap({ Value(text: $0) }) else { throw .invalid(name, "must be a UUID") }
            return id
        }
    }

    /// An id in a path: a malformed id is answered like an unknown one.
    static func id(_ type: Value.Type, missing: String) -> InputKind {
        InputKind(.uuid) { (json, _) throws(Problem) in
            guard let id = json.string.flatMap({ Value(text: $0) }) else { throw .notFound(missing) }
            return id
        }
    }
}

extension InputKind where Value == [Tag] {
    static let tags = InputKind<[String]>.list(
        .text(256, atLeast: 1).example("seoul"),
        limit: CommandLimits.tagsPerIdentity
    ).tags
}

extension InputKind where Value == [String] {
    fileprivate var tags: InputKind<[Tag]> {
        let read = read
        return InputKind<[Tag]>(schema, form: form) { (json, name) throws(Problem) in
            var tags: [Tag] = []
            for text in try read(json, name) {
                guard let tag = Tag(text) else {
                    throw .invalid(
                        name,
                        "'\(text.prefix(40))' is not a tag: 1 to \(Tag.limit) letters, digits or _ - @ # . :"
                    )
                }
                tags.append(tag)
            }
            return tags
        }
    }
}

extension InputKind where Value == TimeZoneName {
    static let timeZone = InputKind<String>.text(TimeZoneName.limitBytes).example("Europe/Berlin").map(
        "is not a name of the IANA time zone database, like Europe/Berlin"
    ) { TimeZoneName($0) }
}

/// The members of `receivingWindow`.
struct DailyWindowFields: InputFields {
    let from = BodyField.required("from", .timeOfDay, "The first minute, HHMM.")
    let to = BodyField.required("to", .timeOfDay, "The last minute, HHMM.")
}

extension InputKind where Value == String {
    fileprivate static let timeOfDay = text(5, atLeast: 1).example("0800")
}

extension InputKind where Value == DailyWindow {
    static let window = InputKind.object(DailyWindowFields()) { (fields) throws(Problem) in
        guard let window = DailyWindow(from: try fields.from, to: try fields.to) else {
            throw .invalid("receivingWindow", "from and to must be times of day from 0000 to 2359")
        }
        return window
    }
}

/// The members of `client`.
struct ClientFields: InputFields {
    let appVersion = text(.appVersion, "2.4.3", "The version of the app.")
    let os = text(.os, "iOS", "The name of the operating system.")
    let osVersion = text(.osVersion, "17.5", "The version of the operating system.")
    let sdkVersion = text(.sdkVersion, "4.4.1", "The version of the vendor's SDK.")
    let model = text(.model, "iPhone15,2", "The model of the device.")
    let locale = text(.locale, "ko_KR", "The language and region of the device.")

    private static func text(_ field: ClientFacts.Field, _ example: String, _ text: String) -> InputField<String?> {
        let kind = InputKind<String>.text(ClientFacts.fieldBytes).example(.string(example))
        return BodyField.optional(field.rawValue, kind, "\(text) Empty or null: unchanged.")
    }
}

extension InputKind where Value == ClientFacts {
    static let client = InputKind.object(ClientFields()) { (fields) throws(Problem) in
        ClientFacts([
            .appVersion: try fields.appVersion, .os: try fields.os, .osVersion: try fields.osVersion,
            .sdkVersion: try fields.sdkVersion, .model: try fields.model, .locale: try fields.locale,
        ])
    }
}
