/// What the rules remember of one connection: which team it belongs to and which provider token it last used.
///
/// Made when a connection opens, dropped with it; only that connection's event loop touches it.
package struct ConnectionState: Sendable {
    /// The `authorization` value that was verified last, so that the same one need not be verified again.
    var authorization: String?

    /// The token inside `authorization`.
    var token: ReceivedProviderToken?

    /// The key that signed `token`; nil when any key is accepted.
    var key: ProviderKey?

    /// The team of the first valid token: no other may push here (Apple, "Establishing a token-based connection to APNs").
    var teamID: String?

    /// Whether the first valid token came from a team-scoped key; nil before it, or when any key is accepted.
    var isTeamScoped: Bool?

    /// When the token last changed, seconds since 1970. For the first token of a connection: when that was issued.
    var tokenChangedAt: Int?

    /// Whether a valid provider token was seen, whatever became of its request: the stream limit rises then (rule 30).
    package internal(set) var hasShownValidToken = false

    /// Whether an expired token has spoiled the connection for good.
    var isWedged = false

    /// Whether nothing more is answered, as one provider saw it after too many token updates (pushy#931).
    package internal(set) var isSilenced = false

    /// The certificate that the client showed; nil in token mode.
    package let certificate: ClientCertificate?

    /// Which host the connection came to.
    package let listener: ListenerKind

    /// A connection that was just opened.
    package init(listener: ListenerKind = .send, certificate: ClientCertificate? = nil) {
        self.listener = listener
        self.certificate = certificate
    }
}
