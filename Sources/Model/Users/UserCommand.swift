/// Users as back ends describe them: their attributes, their acts, and their aliases.
package enum UserCommand: Sendable, Hashable {
    /// Carries out the valid parts of a batch, in one transaction.
    case track(UserBatch)
    /// Returns users with the messages that they were sent, grouped by the given members of the messages' data. An empty list omits the messages.
    case describe([UserName], messages: [String] = [])
    /// Erases each user with its devices, attributes, acts and aliases.
    case erase([UserName])
    /// Adds aliases to users. An alias that belongs to a user already stays with that user.
    case name([NamedUser])
    /// Merges users known only by an alias into these users, with all their stored data. Existing data of the target user wins.
    case identify([NamedUser])
    /// Merges users into others, in order, with all their stored data. Existing data of the target users wins. Unknown users are skipped.
    case merge([UserMerge])
    /// Records consents of users to subjects, in order.
    case consent([ConsentChange])
}

/// The name by which a back end identifies a user.
package enum UserName: Sendable, Hashable {
    case id(UserID)
    case alias(UserAlias)
}

/// An additional name of a user. Unique within (app, vendor); a user may have any number.
package struct UserAlias: Sendable, Hashable {
    package var label: String
    package var name: String

    package init(label: String, name: String) {
        self.label = label
        self.name = name
    }
}

extension UserName {
    /// The text that an audience contains in place of the user's id: `UserNaming.names`. No user id begins with U+001F.
    package var text: UserID {
        switch self {
        case .id(let id): id
        case .alias(let alias): UserID("\u{1F}\(alias.label)\u{1F}\(alias.name)")
        }
    }
}

/// An alias and the user to whom it is to belong.
package struct NamedUser: Sendable, Hashable {
    /// Nil: a new user without an id.
    package var user: UserID?
    package var alias: UserAlias

    package init(user: UserID?, alias: UserAlias) {
        self.user = user
        self.alias = alias
    }
}

/// A user to be merged into another.
package struct UserMerge: Sendable, Hashable {
    package var from: UserName
    package var into: UserName

    package init(_ from: UserName, into: UserName) {
        self.from = from
        self.into = into
    }
}

/// The data about users that a back end sends in one call.
package struct UserBatch: Sendable, Hashable {
    package var patches: [UserPatch]
    package var acts: [UserAct]
    /// Of two batches with the same key, the second changes nothing, for as long as repeat keys are stored. Nil: repeats are not detected.
    package var repeatKey: String?

    package init(patches: [UserPatch] = [], acts: [UserAct] = [], repeatKey: String? = nil) {
        self.patches = patches
        self.acts = acts
        self.repeatKey = repeatKey
    }
}

/// A change of one user.
package struct UserPatch: Sendable, Hashable {
    /// Nil: devices without a user. They are stored only if their tokens are new.
    package var user: UserName?
    /// Whether unknown users are skipped instead of created.
    package var updatesOnly: Bool
    package var changes: [AttributeChange]
    /// Whether all the user's devices accept pushes. Nil: unchanged.
    package var acceptsPush: Bool?
    /// Whether the user opted in. Nil: unchanged. A user that does not accept pushes has not opted in.
    package var isOptedIn: Bool?
    /// By subject. Subjects that are not named stay unchanged.
    package var consents: [String: ConsentState]
    /// Devices of the user. Their own `user` fields are ignored.
    package var devices: [DeviceRegistration]

    package init(
        user: UserName?,
        updatesOnly: Bool = false,
        changes: [AttributeChange] = [],
        acceptsPush: Bool? = nil,
        isOptedIn: Bool? = nil,
        consents: [String: ConsentState] = [:],
        devices: [DeviceRegistration] = []
    ) {
        self.user = user
        self.updatesOnly = updatesOnly
        self.changes = changes
        self.acceptsPush = acceptsPush
        self.isOptedIn = isOptedIn
        self.consents = consents
        self.devices = devices
    }
}

/// A change of one attribute.
package struct AttributeChange: Sendable, Hashable {
    package enum Edit: Sendable, Hashable {
        case set(JSON)
        /// Sets the value only if none is stored.
        case first(JSON)
        /// Sets the value only if it is greater than the stored one, compared as text: of two updates in any order, the later value stays.
        case latest(String)
        case remove
        /// Adds a number in its caller's spelling. A missing value counts as 0.
        case increase(String)
        /// Appends values, each once: a value that is present already moves to the end.
        case append([JSON])
        case withdraw([JSON])
        /// Merges objects member by member, recursively while both are objects. Null removes a member.
        case merge(JSONObject)
    }

    package var name: String
    package var edit: Edit

    package init(_ name: String, _ edit: Edit) {
        self.name = name
        self.edit = edit
    }
}

/// An act of a user.
package struct UserAct: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case event, purchase
        /// Data that an SDK reports about itself: sessions, impressions, clicks, and unknown kinds.
        case signal
    }

    package var user: UserName
    package var updatesOnly: Bool
    package var kind: Kind
    /// The event's name, or the product.
    package var name: String
    package var at: Timestamp
    /// All other data of the act. Acts of the same user with the same kind, name, time and data are the same act, unless both are in one batch.
    package var data: JSONObject

    package init(
        user: UserName,
        updatesOnly: Bool = false,
        kind: Kind,
        name: String,
        at: Timestamp,
        data: JSONObject
    ) {
        self.user = user
        self.updatesOnly = updatesOnly
        self.kind = kind
        self.name = name
        self.at = at
        self.data = data
    }
}

/// The result of a user command.
package enum UserReply: Sendable, Hashable {
    /// Parallel to the batch's patches and acts: the reason why an entry was not carried out.
    case tracked(patches: [Refusal?], acts: [Refusal?])
    /// Parallel to the names. Nil: unknown.
    case described([DescribedUser?])
    case erased(Int)
    case named(Int)
    case identified(Int)
    /// The number of users that were merged and removed.
    case merged(Int)
    /// The number of applied changes, counted per user.
    case consented(Int)
}

/// The stored data of a user.
package struct DescribedUser: Sendable, Hashable {
    package var app: AppID
    package var user: UserID
    /// Whether the user is known only by aliases. The id is the gateway's own then.
    package var isAnonymous: Bool
    package var attributes: JSONObject
    /// By subject.
    package var consents: [String: ConsentState]
    package var aliases: [UserAlias]
    package var tallies: [ActTally]
    package var devices: [UserDevice]
    package var messages: [SentMessages]

    package init(
        app: AppID,
        user: UserID,
        isAnonymous: Bool,
        attributes: JSONObject,
        consents: [String: ConsentState] = [:],
        aliases: [UserAlias] = [],
        tallies: [ActTally] = [],
        devices: [UserDevice] = [],
        messages: [SentMessages] = []
    ) {
        self.app = app
        self.user = user
        self.isAnonymous = isAnonymous
        self.attributes = attributes
        self.consents = consents
        self.aliases = aliases
        self.tallies = tallies
        self.devices = devices
        self.messages = messages
    }
}

/// Messages that a user was sent and that have equal values in the requested members of their data.
package struct SentMessages: Sendable, Hashable {
    /// The requested members that the data contains; never empty.
    package var data: JSONObject
    /// When the last of them was sent.
    package var lastAt: Timestamp
    /// Whether the user read one of them.
    package var isRead: Bool

    package init(data: JSONObject, lastAt: Timestamp, isRead: Bool) {
        self.data = data
        self.lastAt = lastAt
        self.isRead = isRead
    }
}

/// How often a user did something.
package struct ActTally: Sendable, Hashable {
    package var kind: UserAct.Kind
    package var name: String
    package var count: Int
    package var firstAt: Timestamp
    package var lastAt: Timestamp

    package init(kind: UserAct.Kind, name: String, count: Int, firstAt: Timestamp, lastAt: Timestamp) {
        self.kind = kind
        self.name = name
        self.count = count
        self.firstAt = firstAt
        self.lastAt = lastAt
    }
}

/// One of a user's devices.
package struct UserDevice: Sendable, Hashable {
    package var key: VendorDeviceKey
    package var platform: Platform
    package var token: DeviceToken?
    package var acceptsPush: Bool
    /// The attributes that the device reported.
    package var attributes: JSONObject

    package init(
        key: VendorDeviceKey,
        platform: Platform,
        token: DeviceToken?,
        acceptsPush: Bool,
        attributes: JSONObject = [:]
    ) {
        self.key = key
        self.platform = platform
        self.token = token
        self.acceptsPush = acceptsPush
        self.attributes = attributes
    }
}
