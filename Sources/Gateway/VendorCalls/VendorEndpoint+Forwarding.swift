import Commands
import GatewayHTTP
import HTTPTypes
import Logging
import Model
import Observability
import Routing

/// A call that the gateway answers and that its upstream receives later, by a rule with `serveAndForward`, or with `onOutage: serve`.
struct ForwardOrder: Sendable {
    private let call: ForwardedCall
    /// Whether nothing follows some replies. Nil: the call has one step.
    private let isComplete: (@Sendable ([Reply]) -> Bool)?
    private let includesRefused: Bool
    /// Called if the call is not forwarded because too many wait for the upstream.
    var onFull: (@Sendable () -> Void)?
    /// The commands of the call so far: they name whom it is about.
    private var commands: [Command] = []

    init(_ call: ForwardedCall, isComplete: (@Sendable ([Reply]) -> Bool)?, includesRefused: Bool = false) {
        self.call = call
        self.isComplete = isComplete
        self.includesRefused = includesRefused
    }

    /// The order for the transaction of the next commands of the call.
    mutating func forwarding(with next: [Command]) -> CallForwarding {
        commands += next
        var forwarding = CallForwarding(
            call,
            about: ForwardedSubject(commands),
            isComplete: isComplete,
            includesRefused: includesRefused
        )
        forwarding.onFull = onFull
        return forwarding
    }
}

/// Calls that the rules of their app give to both sides (docs/routing.md#forwarding).
extension VendorEndpoint {
    /// The call as its upstream receives it later. Nil: by the rules it does not, or the call cannot be made later, or it has passed this gateway already.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - adapter: that of the call's dialect.
    ///   - binding: its app's rules decide.
    ///   - followed: the upstream that sent the message of a receipt, or may have. It receives the receipt also if the gateway refuses it.
    /// - Returns: the order for the transaction of the call.
    @inline(never)
    func forwardOrder(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ binding: BoundCall,
        followed: CredentialID? = nil
    ) -> ForwardOrder? {
        guard let table = binding.routes?.table, let upstream = adapter as? any UpstreamAdapter else { return nil }
        if let followed { return order(call, adapter, binding, to: followed, .receipt, includesRefused: true) }
        let rules = table.rules.calls
        guard rules.contains(where: { $0.action == .serveAndForward || $0.servesInOutage }) else { return nil }
        let kind = upstream.kind(of: call, settings: binding.settings)
        guard RouteExecution.forwarded.contains(kind) else { return nil }
        let found = CallRouter.find(call, of: kind, upstream, binding.settings, table)
        // The gateway serves a proxied call only while its upstream does not answer.
        let isForwarded = found.action == .serveAndForward || (found.action == .proxy && found.servesInOutage)
        guard isForwarded, let credential = found.upstream else { return nil }
        return order(call, adapter, binding, to: credential, kind, includesRefused: false)
    }

    private func order(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ binding: BoundCall,
        to credential: CredentialID,
        _ kind: CallKind,
        includesRefused: Bool
    ) -> ForwardOrder? {
        guard let name = upstreams.forwardsAs else { return nil }
        guard (adapter as? any ForwardingVendor)?.mayForward(call) ?? true, !ProxyHeaders.isLoop(call.headers, by: name)
        else {
            MetricName.outboxLeftOut.count([("vendor", "\(adapter.vendor)"), ("route", call.route)])
            return nil
        }
        let stored = (adapter as? any ForwardingVendor)?.stored(call, settings: binding.settings) ?? call
        var order = ForwardOrder(
            ForwardedCall(stored, app: binding.app, vendor: adapter.vendor, upstream: credential, kind: kind),
            isComplete: completion(of: call, adapter, binding.settings),
            includesRefused: includesRefused
        )
        let key = CredentialKey(tenant: binding.tenant, credential: credential)
        order.onFull = { [logger = logger, vendor = adapter.vendor, route = call.route] in
            Self.noteFull(key, vendor, route, logger)
        }
        return order
    }

    /// One line per upstream and minute: the upstream misses every call until fewer wait.
    private static let fullLines = FailureLines(pause: .seconds(60))

    private static func noteFull(_ upstream: CredentialKey, _ vendor: Vendor, _ route: String, _ logger: Logger) {
        MetricName.outboxLeftOut.count([("vendor", "\(vendor)"), ("route", route)])
        guard let count = fullLines.count(upstream, at: .now) else { return }
        logger.warning(
            "a call is not forwarded: too many wait for the upstream",
            metadata: [
                LogKey.tenant: "\(upstream.tenant)", LogKey.credential: "\(upstream.credential)",
                LogKey.vendor: "\(vendor)", LogKey.route: "\(route)", LogKey.count: "\(count)",
            ]
        )
    }

    /// When the adapter has no further commands, for dialects with calls of several steps.
    private func completion(
        of call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ settings: BindingSettings
    ) -> (@Sendable ([Reply]) -> Bool)? {
        guard let multiStep = multiStep[adapter.vendor] else { return nil }
        return { replies in
            let sequel = try? multiStep.sequel(to: replies, of: call, settings: settings)
            return sequel?.isEmpty ?? false
        }
    }
}
