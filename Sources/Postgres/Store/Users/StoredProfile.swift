package import Model
import PostgresClient

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
