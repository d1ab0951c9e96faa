package import Model
import PostgresClient

/// A user as the store keeps it.
package struct StoredProfile: Sendable, Hashable {
    package var user: UserID
    package var isAnonymous: Bool
    /// Whether the user's devices accept pushes. Nil: no preference was set.
    package var acceptsPush: Bool?
    /// Only true for users that accept pushes.
    package var isOptedIn: Bool
    package var attributes: JSONObject
    /// By subject.
    package var consents: [String: ConsentState]
    /// The subjects that a call decides, whether that changes `consents` or not: these decisions are as new as the call. Empty when it is read.
    package var decided: Set<String> = []
    /// How often the profile had been changed when it was read. 0: the user has no profile yet, or is known only by a device.
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
