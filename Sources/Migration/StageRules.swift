import Model
package import Routing

extension MigrationPlan {
    /// The rules of a stage: the overlay in front of the app's own rules. The same function for each dialect, so that a table of its results is the whole description of
    /// a migration.
    ///
    /// - Parameters:
    ///   - stage: the stage.
    ///   - facts: those of the vendor that the app leaves.
    /// - Returns: rules that `RouteCheck` accepts if `MigrationCheck` accepts the plan.
    package func rules(_ stage: MigrationStage, _ facts: UpstreamFacts) -> RouteRules {
        switch stage {
        case .observe:
            return RouteRules(calls: [call([], .proxy, facts)])
        case .serve, .rollout(0):
            return RouteRules(calls: kept(facts) + [call([.send, .other], .proxy, facts)])
        case .rollout(10_000), .hold:
            return RouteRules(calls: kept(facts) + served(facts), deliveries: whole(facts))
        case .rollout(let hundredths):
            guard let rollout = Rollout(hundredths: hundredths, by: unit, salt: id) else { return rules(.serve, facts) }
            let inside = CallRule(vendor: facts.vendor, kinds: [.send], rollout: rollout, action: .serve)
            return RouteRules(
                calls: kept(facts) + [inside, call([.send, .other], .proxy, facts)],
                deliveries: [
                    // A device that cannot be pushed to directly, such as one without a token, is reached through the vendor.
                    DeliveryRule(vendor: facts.vendor, rollout: rollout, paths: [.apns, .upstream(upstream)]),
                    DeliveryRule(vendor: facts.vendor, paths: [.upstream(upstream)]),
                ]
            )
        case .complete:
            guard isOnlyIOS else {
                return RouteRules(
                    calls: [CallRule(vendor: facts.vendor, action: .serve)],
                    deliveries: [DeliveryRule(vendor: facts.vendor, paths: [.apns])]
                )
            }
            return RouteRules(calls: kept(facts) + served(facts), deliveries: whole(facts))
        }
    }

    /// The rules after a rollback: sends are proxied again. Devices and reads are still served, because both sides know them; `isFull`: everything is proxied.
    package func rolledBack(isFull: Bool, _ facts: UpstreamFacts) -> RouteRules {
        rules(isFull ? .observe : .serve, facts)
    }

    private func call(_ kinds: Set<CallKind>, _ action: CallAction, _ facts: UpstreamFacts) -> CallRule {
        CallRule(vendor: facts.vendor, kinds: kinds, action: action, upstream: upstream)
    }

    /// Calls that keep both sides up to date.
    private func kept(_ facts: UpstreamFacts) -> [CallRule] {
        var reads = call([.read], .serve, facts)
        reads.proxiesMisses = true
        // A message of the vendor is known a moment after its push. A report that is faster than that is answered by the side that has sent the message.
        var messages = call([.receipt, .message], .followMessage, facts)
        messages.proxiesMisses = true
        return [call([.device, .user], .serveAndForward, facts), messages, reads]
    }

    private func served(_ facts: UpstreamFacts) -> [CallRule] {
        [CallRule(vendor: facts.vendor, kinds: [.send], action: .serve), call([.other], .proxy, facts)]
    }

    /// The deliveries of all users. The gateway sends to audiences itself then, so that a vendor that pushes to all devices of a user must not follow the direct path:
    /// its other platforms are apart where the vendor's send can be limited to one.
    private func whole(_ facts: UpstreamFacts) -> [DeliveryRule] {
        guard facts.addressesUsers else {
            return [DeliveryRule(vendor: facts.vendor, paths: [.apns, .upstream(upstream)])]
        }
        let direct = DeliveryRule(vendor: facts.vendor, paths: [.apns])
        guard facts.splitsPlatforms else { return [direct] }
        return [DeliveryRule(vendor: facts.vendor, platform: .android, paths: [.upstream(upstream)]), direct]
    }
}
