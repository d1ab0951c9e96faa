package import Model

/// Why a set of rules is refused: which rule, and what to do.
package struct RouteFault: Error, Sendable, Hashable {
    /// The kinds of faults. Each has a sentence of its own.
    package enum Kind: Sendable, Hashable {
        case tooManyRules(Int)
        case tooManyTags(Int)
        case unknownUpstream(CredentialID)
        case unknownDialect(Vendor)
        case missingUpstream(CallAction)
        case unusedUpstream(CallAction)
        case otherDialect(CredentialID, of: Vendor)
        case sendForwarded
        case sendFollows
        case rolloutOfCalls
        case rolloutOfAction(CallAction)
        case rolloutWithoutDelivery(Rollout)
        case audienceWithoutRollout
        case missesOfWrites
        case outageOfOthers
        case unreachable(behind: Int)
        case unreachableDelivery(behind: Int)
        case userSplit(CredentialID, by: String, rule: Int)
        case audienceTwice(CredentialID)
        case pathTwice(String)
        case tooManyPaths
        case noneWithOthers
        case ruleWithoutEffect
        case preferenceNarrowed
    }

    /// `calls[3]`, `deliveries[0]`; empty: the rules as a whole.
    package var place: String
    package var kind: Kind

    package init(_ place: String, _ kind: Kind) {
        self.place = place
        self.kind = kind
    }
}

extension RouteFault: CustomStringConvertible {
    /// One sentence for the author of the rules, without the place.
    package var description: String {
        switch kind {
        case .tooManyRules(let count): "\(count) rules, and at most \(RouteLimits.rules) are compared; merge some"
        case .tooManyTags(let count): "the rules name \(count) tags, and at most \(RouteLimits.tags) are looked up"
        case .unknownUpstream(let id): "'\(id)' is not a credential of kind upstream-… of this tenant"
        case .unknownDialect(let vendor): "'\(vendor)' is not a dialect; 'push-gateway vendors' lists them"
        case .missingUpstream(let action): "\(action.rawValue) needs an upstream"
        case .unusedUpstream(let action):
            "\(action.rawValue) uses no upstream; remove it, or state onMiss: proxy or onOutage: serve"
        case .otherDialect(let id, let vendor):
            "'\(id)' is an upstream of \(vendor), and the rule is for another dialect"
        case .sendForwarded:
            "a send that is served and forwarded is pushed by both sides; list the kinds without send, and give sends a rule with serve or proxy"
        case .sendFollows: "a send has no earlier message that it could follow; use serve or proxy"
        case .rolloutOfCalls:
            "only sends take part in a rollout (kinds: [send]); all other calls are answered by one side, because otherwise each side would know a part of the devices"
        case .rolloutOfAction(let action):
            "a rollout selects the sends that the gateway serves, and \(action.rawValue) serves none; use serve, and give the other sends to the next rule"
        case .rolloutWithoutDelivery(let rollout):
            "no delivery rule takes all of the rollout { percent: \(rollout.percent), by: \(rollout.unit.rawValue), salt: \(rollout.salt) }: one needs this rollout and no other criterion than the dialect, in front of the rules that take everything; a send that names targets inside and outside would be pushed by one side to all of them"
        case .audienceWithoutRollout: "audience: split needs a rollout"
        case .missesOfWrites:
            "onMiss: proxy is for the kinds read, receipt and message, which are about something that may be unknown"
        case .outageOfOthers:
            "onOutage: serve is for the kinds device and receipt with proxy; a send would be pushed by both sides"
        case .unreachable(let rule):
            "no call reaches it, because rule \(rule) takes them all; move it to the front, or remove it"
        case .unreachableDelivery(let rule):
            "no delivery takes its paths, because rule \(rule) takes them all; move it to the front, or remove it"
        case .userSplit(let id, let criterion, let rule):
            "'\(id)' pushes to all devices of a user, and \(criterion) of rule \(rule) may give devices of one user different paths; use rollout by: user, lane, or no criterion"
        case .audienceTwice(let id):
            "'\(id)' pushes to all devices of a user, so an audience that the gateway sends must not have apns in the same rule; give the audiences of its dialect to a call rule with proxy or refuse, or use one path"
        case .pathTwice(let path): "the path \(path) is listed twice"
        case .tooManyPaths: "at most \(RouteLimits.paths) paths"
        case .noneWithOthers: "none suppresses the delivery, so it is the only path of its rule"
        case .ruleWithoutEffect: "needs paths or preferDialects"
        case .preferenceNarrowed:
            "preferDialects is evaluated before a registration is chosen, so the rule may only match lane"
        }
    }
}
