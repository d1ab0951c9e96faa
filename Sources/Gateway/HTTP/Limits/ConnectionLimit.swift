import Model
import NIOConcurrencyHelpers
import NIOCore

/// Limits the open connections of one address on this node, so that one client cannot use up the connections of all.
package final class ConnectionLimit: Sendable {
    private let limiter: CallLimiter
    private let proxies: TrustedProxies
    /// By network. An entry exists only while a connection is open.
    private let counts = NIOLockedValueBox<[LimitedName: Int]>([:])

    /// - Parameters:
    ///   - limiter: has the limit, the exempt networks, the metric and the log.
    ///   - proxies: their connections are those of many clients, and are not limited.
    package init(limiter: CallLimiter, proxies: TrustedProxies) {
        self.limiter = limiter
        self.proxies = proxies
    }

    /// Counts a new connection.
    ///
    /// - Returns: false if its address has too many already; the connection is then not counted.
    func opens(_ address: String?) -> Bool {
        guard let limit = limiter.settings.connections, covers(address) else { return true }
        let name = LimitedName.network(address)
        let isAdmitted = counts.withLockedValue { counts in
            let count = counts[name, default: 0]
            guard count < limit else { return false }
            counts[name] = count + 1
            return true
        }
        if !isAdmitted { limiter.refused(LimitExcess(.connections, wait: 1), from: address) }
        return isAdmitted
    }

    /// Ends a connection that `opens` has counted.
    func closed(_ address: String?) {
        guard limiter.settings.connections != nil, covers(address) else { return }
        counts.withLockedValue { counts in
            let name = LimitedName.network(address)
            let left = counts[name, default: 1] - 1
            counts[name] = left > 0 ? left : nil
        }
    }

    /// Counts a connection of a client that a proxy named, until it closes.
    ///
    /// - Returns: false if the client has too many already.
    func admits(_ client: IPAddress, _ channel: any Channel) -> Bool {
        let address = client.description
        guard opens(address) else { return false }
        channel.closeFuture.whenComplete { _ in self.closed(address) }
        return true
    }

    /// How many connections of an address are open.
    func count(_ address: String?) -> Int { counts.withLockedValue { $0[LimitedName.network(address), default: 0] } }

    private func covers(_ address: String?) -> Bool {
        limiter.applies(to: address) && !proxies.isTrusted(peer: address)
    }
}

/// Closes a connection of an address that has too many.
final class ConnectionLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let limit: ConnectionLimit
    private var address: String?
    private var isCounted = false
    private var isJudged = false

    init(_ limit: ConnectionLimit) { self.limit = limit }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { judge(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        judge(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        release()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { release() }

    private func judge(_ context: ChannelHandlerContext) {
        guard !isJudged else { return }
        isJudged = true
        address = context.channel.remoteAddress?.ipAddress
        isCounted = limit.opens(address)
        if !isCounted { context.close(promise: nil) }
    }

    private func release() {
        guard isCounted else { return }
        isCounted = false
        limit.closed(address)
    }
}
