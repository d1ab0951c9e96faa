/// Users as back ends describe them: what they are, what they did, and what else they are called.
package enum UserCommand: Sendable, Hashable {
    /// Does what can be done of it, in one transaction.
    case track(UserBatch)
    /// With the messages they were sent, grouped by these members of the messages' data; an empty list omits the messages.
    case describe([UserName], messages: [String] = [])
    /// Each with its devices, attributes, acts and aliases.
    case erase([UserName])
    /// Gives users further names. An alias that is somebody's stays that user's.
    case name([NamedUser])
    /// Those who were known by an alias only become these users, with all that was kept of them; what the user has already wins.
    case identify([NamedUser])
    /// Users become others, in order, with all that is kept of them; what the others have already wins. Who is not known is passed over.
    case merge([UserMerge])
    /// What users say to subjects, in order.
    case consent([ConsentChange])
}

/// How a back end names a user.
package enum UserName: Sendable, Hashable {
    case id(UserID)
    case alias(UserAlias)
}

/// A user's further name. Unique within (app, vendor); a user may have any number.
package struct UserAlias: Sendable, Hashable {
    package var label: String
    package var name: String

    package init(label: String, name: String) {
        self.label = label
        self.name = name
    }
}

extension UserName {
    /// What an audience holds instead of the user's id: `UserNaming.names`. U+001F begins no id of a user.
    package var text: UserID {
        switch self {
        case .id(let id): id
        case .alias(let alias): UserID("\u{1F}\(alias.label)\u{1F}\(alias.name)")
        }
    }

    package init(text: UserID) {
        let parts = text.rawValue.split(separator: "\u{1F}", maxSplits: 2, omittingEmptySubsequences: false)
        if parts.count == 3, parts[0].isEmpty {
            self = .alias(UserAlias(label: String(parts[1]), name: String(parts[2])))
        } else {
            self = .id(text)
        }
    }
}

/// An alias and whose it is meant to be.
package struct NamedUser: Sendable, Hashable {
    /// Nil: a new user without an id.
    package var user: UserID?
    package var alias: UserAlias

    package init(user: UserID?, alias: UserAlias) {
        self.user = user
        self.alias = alias
    }
}

/// A user who is to become another.
package struct UserMerge: Sendable, Hashable {
    package var from: UserName
    package var into: UserName

    package init(_ from: UserName, into: UserName) {
        self.from = from
        self.into = into
    }
}

/// What a back end tells of users in one call.
package struct UserBatch: Sendable, Hashable {
    package var patches: [UserPatch]
    package var acts: [UserAct]
    /// Of two batches with the same key the second changes nothing, for as long as repeat keys are kept. Nil: nothing tells a repeat.
    package var repeatKey: String?

    package init(patches: [UserPatch] = [], acts: [UserAct] = [], repeatKey: String? = nil) {
        self.patches = patches
        self.acts = acts
        self.repeatKey = repeatKey
    }
}

/// A change of one user.
package struct UserPatch: Sendable, Hashable {
    /// Nil: of nobody, whose devices are only taken if their tokens are new.
    package var user: UserName?
    /// Whoever is not known stays unknown.
    package var updatesOnly: Bool
    package var changes: [AttributeChange]
    /// Whether all the user's devices may be rung; nil: as before.
    package var acceptsPush: Bool?
    /// Whether the user asked for that; nil: as before. Who is rung no more did not.
    package var isOptedIn: Bool?
    /// By subject; what is not named stays.
    package var consents: [String: ConsentState]
    /// Devices of the user; their own users are not looked at.
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

/// What becomes of one attribute.
package struct AttributeChange: Sendable, Hashable {
    package enum Edit: Sendable, Hashable {
        case set(JSON)
        /// Only where there is none yet.
        case first(JSON)
        /// Only where it is greater than what is there, as texts are: of two times told in any order the later stays.
        case latest(String)
        case remove
        /// By a number in its caller's spelling. What is not there counts as 0.
        case increase(String)
        /// At the end, each value once: one that is there moves.
        case append([JSON])
        case withdraw([JSON])
        /// Member by member, as deep as both are objects. Null removes.
        case merge(JSONObject)
    }

    package var name: String
    package var edit: Edit

    package init(_ name: String, _ edit: Edit) {
        self.name = name
        self.edit = edit
    }
}

/// Something that a user did.
package struct UserAct: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case event, purchase
        /// What an SDK tells of itself: sessions, impressions, clicks, and whatever is not known.
        case signal
    }

    package var user: UserName
    package var updatesOnly: Bool
    package var kind: Kind
    /// The event's name, or the product.
    package var name: String
    package var at: Timestamp
    /// All else that was said of it. An act of the same user with the same kind, name, time and data is the same, unless both are in one batch.
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

/// What came of a user command.
package enum UserReply: Sendable, Hashable {
    /// Parallel to the batch's patches and acts: why one was not done.
    case tracked(patches: [Refusal?], acts: [Refusal?])
    /// Parallel to the names; nil: nobody.
    case described([DescribedUser?])
    case erased(Int)
    case named(Int)
    case identified(Int)
    /// How many users are no more.
    case merged(Int)
    /// How many changes of one user's were meant.
    case consented(Int)
}

/// What is known of a user.
package struct DescribedUser: Sendable, Hashable {
    package var app: AppID
    package var user: UserID
    /// Known by aliases only: the id is the gateway's own.
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

/// Messages that a user was sent, alike in what of their data was asked for.
package struct SentMessages: Sendable, Hashable {
    /// The members that were asked for, as far as they are there; never empty.
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
