import Model
import Store

/// The users of a call, with the changes made so far.
struct Drafts {
    private let known: [UserName: StoredProfile]
    private var made: [UserName: UserID] = [:]
    private var drafts: [UserID: StoredProfile] = [:]
    private var changed: Set<UserID> = []
    private(set) var aliases: [UserWrite.Alias] = []
    private let identifiers: any IdentifierSource

    init(_ names: [UserName], _ profiles: [StoredProfile?], _ identifiers: any IdentifierSource) {
        var known: [UserName: StoredProfile] = [:]
        for (name, profile) in zip(names, profiles) { known[name] = profile }
        self.known = known
        self.identifiers = identifiers
        for profile in profiles.compactMap(\.self) { drafts[profile.user] = profile }
    }

    /// The user with that name; nil if there is none.
    func user(_ name: UserName) -> UserID? { made[name] ?? known[name]?.user }

    /// The user with that name, or a new one.
    mutating func userOrNew(_ name: UserName) -> UserID {
        if let user = user(name) { return user }
        switch name {
        case .id(let id):
            made[name] = id
            if drafts[id] == nil { drafts[id] = StoredProfile(user: id) }
            return id
        case .alias(let alias):
            // The id is the same on every node, so that two concurrent calls create the same user. The alias cannot be derived from it: it may be a
            // phone number.
            let id = UserID("alias:" + identifiers.sha256(Array(name.text.rawValue.utf8)).prefix(32))
            made[name] = id
            if drafts[id] == nil { drafts[id] = StoredProfile(user: id, isAnonymous: true) }
            changed.insert(id)
            aliases.append(UserWrite.Alias(alias, of: id))
            return id
        }
    }

    subscript(user: UserID) -> StoredProfile {
        get { drafts[user] ?? StoredProfile(user: user) }
        set {
            if drafts[user] != newValue { changed.insert(user) }
            drafts[user] = newValue
        }
    }

    /// Ensures that the user has a profile.
    mutating func keep(_ user: UserID) { if self[user].revision == 0 { changed.insert(user) } }

    /// Writes the user even if it is unchanged, so that its consent is applied to new devices.
    mutating func touch(_ user: UserID) { changed.insert(user) }

    mutating func name(_ alias: UserAlias, _ user: UserID) {
        keep(user)
        made[.alias(alias)] = user
        aliases.append(UserWrite.Alias(alias, of: user))
    }

    /// Sorted by user.
    var profiles: [StoredProfile] { changed.sorted().map { self[$0] } }
}
