/// The tokens by which an app's back end confirms the users of registrations: JSON web tokens whose `sub` is the user.
package struct UserTokenRules: Sendable, Hashable {
    /// Where the rules are in the stored settings of each binding of the app.
    package static let settingsKey = "$userTokens"
    /// The header of a vendor's call that carries the token.
    package static let header = "X-User-Token"
    /// 8 keys: each verifies every token until one fits.
    package static let keyLimit = 8
    /// 8 KiB per token: it is parsed before its signature is known to be right.
    package static let tokenBytes = 8 * 1024

    /// Public keys in PEM: RSA of 2,048 bits or more, or P-256.
    package var keys: [String]
    /// The required `iss`.
    package var issuer: String
    /// The required `aud`: a token of the same issuer for another service proves nothing here.
    package var audience: String

    package init(keys: [String], issuer: String, audience: String) {
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
    }

    /// The stored form.
    package var json: JSON {
        ["keys": .array(keys.map { .string($0) }), "issuer": .string(issuer), "audience": .string(audience)]
    }

    /// Nil: the app has none.
    package init?(_ binding: BindingSettings) {
        guard let stored = binding.values[Self.settingsKey]?.object, let issuer = stored["issuer"]?.string,
            let audience = stored["audience"]?.string
        else { return nil }
        self.init(keys: (stored["keys"]?.array ?? []).compactMap(\.string), issuer: issuer, audience: audience)
    }
}
