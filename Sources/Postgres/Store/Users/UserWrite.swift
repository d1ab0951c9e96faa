package import Model
import PostgresClient

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
