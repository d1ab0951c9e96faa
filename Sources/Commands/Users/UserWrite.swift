package import Model

/// A user as the store keeps it.
package struct StoredProfile: Sendable, Hashable {
    package var user: UserID
    package var isAnonymous: Bool
    /// What the user's devices were told; nil: nothing.
    package var acceptsPush: Bool?
    /// Only of who accepts pushes.
    package var isOptedIn: Bool
    package var attributes: JSONObject
    /// By subject.
    package var consents: [String: ConsentState]
    /// Of what was read, how often it was changed. 0: there is none yet, or only a device of the user.
    package var revision: Int

    package init(
        user: UserID,
        isAnonymous: Bool = false,
        acceptsPush: Bool? = nil,
        isOptedIn: Bool = false,
        attributes: JSONObject = [:],
        consents: [String: ConsentState] = [:],
        revision: Int = 0
    ) {
        self.user = user
        self.isAnonymous = isAnonymous
        self.acceptsPush = acceptsPush
        self.isOptedIn = isOptedIn
        self.attributes = attributes
        self.consents = consents
        self.revision = revision
    }
}

/// All that one call changes of users.
package struct UserWrite: Sendable, Hashable {
    package struct Alias: Sendable, Hashable {
        package var alias: UserAlias
        package var user: UserID

        package init(_ alias: UserAlias, of user: UserID) {
            self.alias = alias
            self.user = user
        }
    }

    package struct Act: Sendable, Hashable {
        package var user: UserID
        /// 32 hex digits.
        package var digest: String
        package var kind: UserAct.Kind
        package var name: String
        package var at: Timestamp
        package var data: JSONObject

        package init(
            user: UserID,
            digest: String,
            kind: UserAct.Kind,
            name: String,
            at: Timestamp,
            data: JSONObject = [:]
        ) {
            self.user = user
            self.digest = digest
            self.kind = kind
            self.name = name
            self.at = at
            self.data = data
        }
    }

    package struct Move: Sendable, Hashable {
        package var from: UserID
        package var to: UserID

        package init(from: UserID, to: UserID) {
            self.from = from
            self.to = to
        }
    }

    package var repeatKey: String?
    /// As they are from now on, each user once; the revision is the one that was read.
    package var profiles: [StoredProfile]
    /// One that is somebody's stays. Their users have profiles.
    package var aliases: [Alias]
    /// Of users with profiles.
    package var acts: [Act]
    /// To users with profiles.
    package var moves: [Move]

    package init(
        repeatKey: String? = nil,
        profiles: [StoredProfile] = [],
        aliases: [Alias] = [],
        acts: [Act] = [],
        moves: [Move] = []
    ) {
        self.repeatKey = repeatKey
        self.profiles = profiles
        self.aliases = aliases
        self.acts = acts
        self.moves = moves
    }

    package var isEmpty: Bool { profiles.isEmpty && aliases.isEmpty && acts.isEmpty && moves.isEmpty }
}

/// Which details of users are asked for.
package enum UserDetail: Sendable, Hashable {
    case aliases, tallies, devices
    /// Those with one of these members in their data, grouped by them. The limit is of messages that are looked at.
    case messages(by: [String])
}

/// Something of one user.
package struct UsersOwn<Value: Sendable & Hashable>: Sendable, Hashable {
    package var user: UserID
    package var value: Value

    package init(user: UserID, value: Value) {
        self.user = user
        self.value = value
    }
}
