/// The state of one connection that the rules need: its team and the provider token that it used last.
///
/// Created when a connection opens, discarded with it; only that connection's event loop uses it.
package struct ConnectionState: Sendable {
    /// The last verified `authorization` value, so that the same one need not be verified again.
    var authorization: String?

    /// The token inside `authorization`.
    var token: ReceivedProviderToken?

    /// The key that signed `token`; nil if any key is accepted.
    var key: ProviderKey?

    /// The team of the first valid token; no other team may push on this connection (Apple, "Establishing a token-based connection to APNs").
    var teamID: String?

    /// Whether the first valid token was signed by a team-scoped key; nil before it, or if any key is accepted.
    var isTeamScoped: Bool?

    /// When the token last changed, seconds since 1970. For the first token of a connection: when it was issued.
    var tokenChangedAt: Int?

    /// Whether a valid provider token was seen, even if its request was refused; the stream limit is then raised (rule 30).
    package internal(set) var hasShownValidToken = false

    /// Whether an expired token has made every further request of the connection fail.
    var isWedged = false

    /// Whether the connection gets no further answers, as one provider observed after too many token updates (pushy#931).
    package internal(set) var isSilenced = false

    /// The client's certificate; nil in token mode.
    package let certificate: ClientCertificate?

    /// The host that the connection was opened to.
    package let listener: ListenerKind

    /// Creates the state of a connection that has just opened.
    package init(listener: ListenerKind = .send, certificate: ClientCertificate? = nil) {
        self.listener = listener
        self.certificate = certificate
    }
}
