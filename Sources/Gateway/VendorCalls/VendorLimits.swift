import GatewayHTTP
import Model

/// Applies the limits of calls to one vendor's call at a time (docs/security.md#limits).
///
/// An address is limited only for what strangers do: because carriers put thousands of phones behind one address, a device that is registered already is
/// admitted however often others at its address were refused.
struct VendorLimits: Sendable {
    let limiter: CallLimiter

    enum Admission: Sendable, Hashable {
        /// `reserved`: a token of `identities` was taken for an identity that the call may create.
        case admitted(reserved: Bool)
        /// The address has used up its limit. The call is admitted if `CallNames.exempting` are registered.
        case ifKnown(LimitExcess)
        case refused(LimitExcess)
    }

    /// The address of a call, and the binding in which its names are unique.
    struct Caller: Sendable {
        var address: String?
        var tenant: TenantID
        var scope: AppScope

        func name(_ kind: String, _ text: String) -> LimitedName {
            LimitedName(tenant.rawValue, scope.app.rawValue, scope.vendor.rawValue, kind, text)
        }

        func name(_ identity: CallNames.Identity) -> LimitedName {
            switch identity {
            case .key(let key): name("key", key.rawValue)
            case .token(let token): name("token", token.text)
            }
        }

        var network: LimitedName { LimitedName.network(address) }
    }

    // MARK: Devices

    /// Decides on the commands of a call before they are performed. `earlier`: the names of those before them, which were counted already.
    ///
    /// The address comes first: a call that its limit refuses leaves the limits of the identity, users and phones that it names as they were.
    func admission(_ names: CallNames, _ caller: Caller, after earlier: CallNames = CallNames([])) -> Admission {
        if names.isEmpty { return .admitted(reserved: false) }
        let isExempt = names.isExempt { limiter.knows(caller.name($0)) }
        if !isExempt {
            let excess =
                names.creates ? limiter.take(.identities, caller.network) : limiter.excess(.unknown, caller.network)
            if let excess { return names.exempting.isEmpty ? .refused(excess) : .ifKnown(excess) }
        }
        let reserved = names.creates && !isExempt
        guard let excess = takeOwn(names, caller, after: earlier) else { return .admitted(reserved: reserved) }
        if reserved { limiter.giveBack(.identities, caller.network) }
        return .refused(excess)
    }

    /// Takes a token of each limit of the identity, the users and the phones themselves; none if one of them is used up, which is returned.
    func takeOwn(_ names: CallNames, _ caller: Caller, after earlier: CallNames) -> LimitExcess? {
        var owns: [(limit: CallLimit, name: LimitedName)] = []
        if earlier.identities.isEmpty, let identity = names.identities.first {
            owns.append((.identity, caller.name(identity)))
        }
        for user in names.users where !earlier.users.contains(user) {
            owns.append((.user, caller.name("user", user.rawValue)))
        }
        for phone in names.phones where !earlier.phones.contains(phone) {
            owns.append((.phone, caller.name("phone", phone)))
        }
        for (index, own) in owns.enumerated() {
            guard let excess = limiter.take(own.limit, own.name) else { continue }
            for taken in owns.prefix(index) { limiter.giveBack(taken.limit, taken.name) }
            return excess
        }
        return nil
    }

    /// Counts what the call did.
    func settle(_ names: CallNames, _ replies: [Reply], reserved: Bool, _ caller: Caller) {
        if names.isEmpty { return }
        let findings = CallFindings(replies)
        let unpaid = findings.created - (reserved ? 1 : 0)
        if unpaid > 0 {
            limiter.charge(.identities, caller.network, count: unpaid)
        } else if findings.created == 0, reserved, !findings.isSilent {
            limiter.giveBack(.identities, caller.network)
        }
        // An identity that was remembered has ended. Forgotten, its next registration is counted before it is done.
        if unpaid > 0 || findings.foundNobody { names.identities.forEach { limiter.forget(caller.name($0)) } }
        if findings.namedUnknown { return limiter.charge(.unknown, caller.network) }
        guard findings.succeeded, unpaid <= 0 else { return }
        let named = findings.foundNobody ? [] : names.identities
        for identity in named + findings.registered.map(CallNames.Identity.key) {
            let name = caller.name(identity)
            if !limiter.knows(name) { limiter.remember(name) }
        }
    }

    /// Counts a call whose binding does not exist. Returns the limit if the address has used it up.
    func unknownBinding(from address: String?) -> LimitExcess? {
        guard limiter.applies(to: address) else { return nil }
        return limiter.take(.unknown, LimitedName.network(address))
    }

    /// Reports replies that were refused because a quota is used up.
    func report(_ replies: [Reply], of app: AppID, in tenant: TenantID) {
        for case .refused(.rateLimited(_, let quota?)) in replies { limiter.refused(quota, of: app, in: tenant) }
    }

    // MARK: Proofs

    /// The credential of a call that needs one; nil if it shows none, or limits do not apply to its address.
    func proof(
        _ call: VendorRequest,
        _ key: BindingKey,
        _ caller: CallerKind,
        _ adapter: any VendorAdapter
    ) -> ShownProof? {
        guard caller != .device, limiter.applies(to: call.remoteAddress) else { return nil }
        let proof = caller == .sender ? SenderEvidence(call, adapter.senders).proof : adapter.proof(of: call)
        guard let proof else { return nil }
        return shown(proof, from: call.remoteAddress, at: ProofRealm(key, caller))
    }

    /// Counts a proof that failed. Returns the limit if the caller had to wait before it.
    func failed(_ shown: ShownProof?) -> LimitExcess? {
        guard let shown else { return nil }
        if shown.excess == nil { limiter.failed(shown.proof, from: shown.address) }
        return shown.excess
    }

    /// Counts a wrong token of a user, which cannot be found by trying. Returns the limit if the caller had to wait before it.
    func failedToken(from address: String?) -> LimitExcess? {
        guard limiter.applies(to: address) else { return nil }
        return failed(shown(CallProof("user token", isGuessable: false), from: address, at: .userTokens))
    }

    /// Remembers the credential of an admitted call, if it is what admitted the call: not if the setting `openSends`, a network or a certificate did.
    func admitted(_ shown: ShownProof?, by verdict: SenderGate.Verdict) {
        guard let shown, verdict.isByCredential else { return }
        limiter.proved(shown.proof, from: shown.address, at: shown.realm)
    }

    private func shown(_ proof: CallProof, from address: String?, at realm: ProofRealm) -> ShownProof {
        let excess = limiter.excess(of: proof, from: address, at: realm)
        return ShownProof(proof: proof, address: address, realm: realm, excess: excess)
    }
}

/// The credential of a call, and the wait that earlier failures caused.
struct ShownProof: Sendable, Hashable {
    var proof: CallProof
    var address: String?
    var realm: ProofRealm
    var excess: LimitExcess?

    /// The limit that refuses the call before its proof is looked at.
    var refusal: LimitExcess? { proof.isGuessable ? excess : nil }
}

extension SenderEvidence {
    /// Nil: the call has no key.
    fileprivate var proof: CallProof? {
        keys.isEmpty ? nil : CallProof(keys.joined(separator: "\n"))
    }
}
