import Model
import SignedTokens

/// Decides whether the token of a vendor's call confirms the user that the call registers. The same for all vendors; the adapter only finds the token.
struct UserTokenGate {
    enum Verdict: Sendable, Hashable {
        /// The call registers no user, shows no token, or the app has no keys for tokens.
        case unproven
        /// The commands, whose registrations are vouched for now.
        case vouched([Command])
        /// `isFailure`: it counts as a failed proof. A token that was right until it expired does not.
        case refused(String, isFailure: Bool)
    }

    let rules: UserTokenRules

    /// Nil: the app has no keys for tokens.
    init?(_ rules: UserTokenRules?) {
        guard let rules else { return nil }
        self.rules = rules
    }

    /// - Parameters:
    ///   - commands: the commands of the call.
    ///   - token: the token of the call. Only read if the commands register a user.
    ///   - now: the time of the call.
    /// - Returns: the commands to perform, or why the call is refused.
    func judge(_ commands: [Command], _ token: @autoclosure () -> String?, at now: Timestamp) -> Verdict {
        let users = commands.compactMap(\.registered?.user)
        guard !users.isEmpty, let token = token(), !token.isEmpty else { return .unproven }
        do throws(SignedToken.Fault) {
            let claims = try SignedToken.claims(
                token,
                keys: rules.keys,
                algorithms: Set(SignedToken.Algorithm.allCases),
                limitBytes: UserTokenRules.tokenBytes,
                at: now
            )
            guard claims.hasBegun(at: now) else { return .refused("user token: not yet valid", isFailure: true) }
            guard claims.isIssued(by: rules.issuer) else { return .refused("user token: issuer", isFailure: true) }
            guard claims.isMeant(for: rules.audience) else { return .refused("user token: audience", isFailure: true) }
            guard users.allSatisfy({ $0.rawValue == claims.subject }) else {
                return .refused("user token: subject", isFailure: true)
            }
            return .vouched(commands.map { $0.vouched(by: claims) })
        } catch {
            return .refused("user token: \(error)", isFailure: error != .expired)
        }
    }
}

extension Command {
    /// The user that the command gives to a device, and the phone, if it names one. Nil: it names no user.
    fileprivate var registered: (user: UserID, phone: String?)? {
        guard case .registration(let command) = self else { return nil }
        switch command {
        case .register(let registration): return registration.user.map { ($0, registration.phone) }
        case .enlist(let registration, let change):
            guard case .set(let user, _, let phone, _) = change else { return nil }
            return (user, phone ?? registration.phone)
        case .assign(_, let change, _):
            guard case .set(let user, _, let phone, _) = change else { return nil }
            return (user, phone)
        case .updateToken, .unregister, .requestVerification, .verify, .standing, .drawKey, .listed, .activity:
            return nil
        }
    }

    /// The same command of a caller that proved the user. A token confirms a phone only if its claim `phone_number` is that phone; the command stays a claim
    /// otherwise, so that nobody becomes the vouched owner of a phone with the token of a user.
    fileprivate func vouched(by claims: SignedToken.Claims) -> Command {
        guard let registered, case .registration(let command) = self else { return self }
        if let phone = registered.phone, !phone.isEmpty {
            guard let named = claims.all["phone_number"]?.string, named.digits.isNumber(phone.digits) else {
                return self
            }
        }
        switch command {
        case .register(var registration):
            registration.assurance = .vouched
            return .registration(.register(registration))
        case .enlist(var registration, let change):
            registration.assurance = .vouched
            return .registration(.enlist(registration, change))
        case .assign(let key, let change, _):
            return .registration(.assign(key: key, change, assurance: .vouched))
        case .updateToken, .unregister, .requestVerification, .verify, .standing, .drawKey, .listed, .activity:
            return self
        }
    }
}

extension String {
    /// Its decimal digits.
    fileprivate var digits: String { String(decoding: utf8.filter { (0x30...0x39).contains($0) }, as: UTF8.self) }

    /// Whether these digits are those of a number in national form, or of the same number with a country code (1 to 3 digits) instead of the leading zero.
    fileprivate func isNumber(_ national: String) -> Bool {
        if self == national { return true }
        let own = national.dropFirst()
        return national.hasPrefix("0") && hasSuffix(own) && (1...3).contains(utf8.count - own.utf8.count)
    }
}
