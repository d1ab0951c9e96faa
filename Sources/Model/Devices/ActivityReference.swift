/// A Live Activity, or a kind of Live Activities of which one is started. A device reports a token for each.
package struct ActivityReference: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// `name` is the Swift type of the attributes, and the token is a push-to-start token.
        case start
        /// `name` is the app's name of the activity.
        case running
    }

    package var kind: Kind
    package var name: String

    package init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }
}
