/// How long a connection waits for what, and how long it lives.
///
/// Part of `ConnectionConfiguration`; the defaults are those of docs/contracts/apns.md#13.6. Zero or less means at once, what is above
/// `maxDuration` counts as that.
package struct HTTP2Timeouts: Sendable, Equatable {
    /// For name look-up and TCP connect together, over all addresses.
    package var connect = Duration.seconds(5)
    /// With several addresses: how long one may be silent before the next is tried beside it (RFC 8305 §5).
    package var nextAddress = Duration.milliseconds(250)
    /// For the TLS handshake, from the first byte to the last.
    package var tls = Duration.seconds(5)
    /// Requests are open and nothing at all was received for this long: ask by PING whether the peer lives (docs/contracts/apns.md#11.3).
    package var pingWhenSilent = Duration.seconds(10)
    /// For the answer to a PING; then the connection is closed.
    package var pingAnswer = Duration.seconds(5)
    /// Nothing is open and nothing was received for this long: PING, because NATs forget idle connections.
    package var pingWhenIdle = Duration.seconds(600)
    /// No request was open for this long: the connection retires (`ConnectionChange.retired(.idle)`). Nil for never, which suits
    /// the last connection of a pool; else 60 minutes (docs/contracts/apns.md#13.6).
    package var idleClose: Duration?
    /// Open for this long: the connection retires (`ConnectionChange.retired(.age)`) and finishes what is open. Nil for never.
    ///
    /// docs/contracts/apns.md#13.6 has 24 h for production and 10 min for the sandbox. Apple wants connections to last hours or days.
    package var maxAge: Duration?
    /// Up to this share of `maxAge` is taken off by chance, so that connections that opened together do not retire together.
    /// 0...1; 0.1 is pushiko's.
    package var maxAgeSpread = 0.1
    /// For open streams to finish after `close()`, a GOAWAY or retiring; then the connection is closed under them.
    package var drain = Duration.seconds(30)
    /// Unacknowledged TCP data kills the connection after this (`TCP_USER_TIMEOUT`). Zero leaves the system's default.
    package var tcpUser = Duration.seconds(20)
    /// The kernel asks a silent peer after this (`TCP_KEEPIDLE`), so that NATs keep an idle connection and a dead one is noticed
    /// without a request. Unit: whole seconds. Zero leaves the system's default, two hours.
    package var tcpKeepAlive = Duration.seconds(60)

    /// The defaults of docs/contracts/apns.md#13.6.
    package init() {}

    /// Ten years: more than anything lives, and far from where a clock's arithmetic overflows.
    static let maxDuration = Duration.seconds(315_360_000)

    /// How long one connection may be open, with the spread taken off; nil for no bound. The chance, 0...1, is drawn for this
    /// connection.
    func lifetime(chance: Double) -> Duration? { maxAge.map { $0 * (1 - maxAgeSpread * chance) } }

    /// The same with every duration in 0...`maxDuration`, whoever filled it in.
    var bounded: HTTP2Timeouts {
        func bound(_ duration: Duration) -> Duration { min(max(.zero, duration), HTTP2Timeouts.maxDuration) }
        var copy = self
        copy.connect = bound(connect)
        copy.nextAddress = bound(nextAddress)
        copy.tls = bound(tls)
        copy.pingWhenSilent = bound(pingWhenSilent)
        copy.pingAnswer = bound(pingAnswer)
        copy.pingWhenIdle = bound(pingWhenIdle)
        copy.idleClose = idleClose.map(bound)
        copy.maxAge = maxAge.map(bound)
        copy.maxAgeSpread = maxAgeSpread.isNaN ? 0 : min(max(0, maxAgeSpread), 1)
        copy.drain = bound(drain)
        copy.tcpUser = bound(tcpUser)
        copy.tcpKeepAlive = bound(tcpKeepAlive)
        return copy
    }
}
