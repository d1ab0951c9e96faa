/// Rows 9 to 14: the authentication of the sender.
///
/// They come before the rows about the device, so that an unauthenticated caller learns nothing about device tokens.
enum ProviderTokenRules {
    static let all = [
        Rule(9, .documented, presence),
        Rule(10, .documented, identity),
        Rule(11, .documented, keyFitsConnection),
        Rule(12, .deduced, revocation),
        Rule(13, .documented, age),
        Rule(14, .documented, updates),
    ]

    /// A token expires after an hour and may be replaced after 20 minutes.
    ///
    /// Source: Apple, "Establishing a token-based connection to APNs" (read 2026-11).
    static let longestAge = 3600
    static let shortestUpdateInterval = 1200

    /// How far in the future `iat` may be. Assumed: Apple documents nothing; clocks may differ by five minutes.
    static let longestLead = 300

    private static func presence(_ examination: inout Examination) -> RuleRefusal? {
        bearer(examination.request.authorization) == nil ? RuleRefusal(.missingProviderToken) : nil
    }

    /// The token of a `bearer` value; the real service ignores the scheme's case (a2 sends it capitalized).
    private static func bearer(_ authorization: String?) -> Substring? {
        guard let authorization, let space = authorization.firstIndex(of: " "),
            authorization[..<space].lowercased() == "bearer"
        else { return nil }
        let token = authorization[space...].drop { $0 == " " }
        return token.isEmpty ? nil : token
    }

    /// Row 10. The last verified token is stored, so that each signature is verified once per connection.
    private static func identity(_ examination: inout Examination) -> RuleRefusal? {
        guard examination.request.authorization != examination.connection.authorization else { return nil }
        guard let text = bearer(examination.request.authorization), let token = ReceivedProviderToken(text) else {
            return RuleRefusal(.invalidProviderToken)
        }
        var key: ProviderKey?
        if !examination.settings.keys.acceptsAnyKey {
            guard let known = examination.settings.keys.key(token.keyID), known.teamID == token.teamID,
                token.isSigned(by: known)
            else { return RuleRefusal(.invalidProviderToken) }
            key = known
        }
        if let team = examination.connection.teamID, team != token.teamID { return RuleRefusal(.invalidProviderToken) }
        examination.candidate = Examination.Candidate(token: token, key: key)
        return nil
    }

    private static func keyFitsConnection(_ examination: inout Examination) -> RuleRefusal? {
        guard let key = examination.candidate?.key else { return nil }
        if let environment = key.environment, environment != examination.settings.environment {
            return RuleRefusal(.badEnvironmentKeyIDInToken)
        }
        if let isTeamScoped = examination.connection.isTeamScoped, isTeamScoped != (key.topics == nil) {
            return RuleRefusal(.unrelatedKeyIDInToken)
        }
        return nil
    }

    private static func revocation(_ examination: inout Examination) -> RuleRefusal? {
        let isRevoked = (examination.candidate?.key ?? examination.connection.key)?.isRevoked == true
        guard let token = examination.candidate?.token ?? examination.connection.token else { return nil }
        return isRevoked || examination.facts.isRevoked(token.keyID) ? RuleRefusal(.forbidden) : nil
    }

    private static func age(_ examination: inout Examination) -> RuleRefusal? {
        guard !examination.connection.isWedged else { return RuleRefusal(.expiredProviderToken) }
        guard let token = examination.candidate?.token ?? examination.connection.token else {
            return RuleRefusal(.invalidProviderToken)
        }
        if examination.now - token.issuedAt > longestAge {
            examination.connection.isWedged = examination.settings.wedgesOnExpiredToken
            return RuleRefusal(.expiredProviderToken)
        }
        return token.issuedAt - examination.now > longestLead ? RuleRefusal(.invalidProviderToken) : nil
    }

    /// Row 14, where a new token becomes the connection's token.
    ///
    /// The age of a connection's first token counts from its `iat`: a client that connects with a token of 45 minutes may renew it at 50.
    private static func updates(_ examination: inout Examination) -> RuleRefusal? {
        guard let candidate = examination.candidate else { return nil }
        let isFirst = examination.connection.token == nil
        if !isFirst, let changed = examination.connection.tokenChangedAt,
            examination.now - changed < shortestUpdateInterval
        {
            examination.connection.isSilenced = examination.settings.silencesAfterTokenUpdates
            return RuleRefusal(.tooManyProviderTokenUpdates)
        }
        examination.connection.authorization = examination.request.authorization
        examination.connection.token = candidate.token
        examination.connection.key = candidate.key
        examination.connection.teamID = candidate.token.teamID
        examination.connection.isTeamScoped = candidate.key.map { $0.topics == nil }
        examination.connection.tokenChangedAt = isFirst ? candidate.token.issuedAt : examination.now
        examination.connection.hasShownValidToken = true
        return nil
    }
}
