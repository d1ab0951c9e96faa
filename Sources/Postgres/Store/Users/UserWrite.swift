package import Model
import PostgresClient

/// All changes of users by one call.
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
        /// 32 hexadecimal digits.
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
    /// The new profiles, each user once. The revision is the one that was read.
    package var profiles: [StoredProfile]
    /// New aliases. An alias that belongs to a user already stays unchanged. Their users have profiles.
    package var aliases: [Alias]
    /// Acts of users with profiles.
    package var acts: [Act]
    /// Merges into users with profiles.
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
