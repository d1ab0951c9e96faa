/// The credential that a call shows, for limits of failed proofs. It is compared only with what other calls showed.
package struct CallProof: Sendable, Hashable {
    /// The whole credential, as received.
    package var credential: String
    /// The name of the key or the user, if the credential contains one.
    package var keyName: String?
    /// Whether a caller could find the right one by trying, as with a password. False: a signature, which is checked even while the caller has to wait, because
    /// each call has another one.
    package var isGuessable: Bool

    package init(_ credential: String, keyName: String? = nil, isGuessable: Bool = true) {
        self.credential = credential
        self.keyName = keyName
        self.isGuessable = isGuessable
    }
}
