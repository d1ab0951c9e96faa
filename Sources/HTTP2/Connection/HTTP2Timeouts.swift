/// The timeouts of a connection, and how long it lives.
///
/// Part of `ConnectionConfiguration`; the defaults are those of docs/contracts/apns.md#13.6. Zero or less means at once. A value above `maxDuration` counts as
/// `maxDuration`.
package struct HTTP2Timeouts: Sendable, Equatable {
    /// The limit for name look-up and TCP connect together, over all addresses.
    package var connect = Duration.seconds(5)
    /// With several addresses: how long one may stay silent before the next is tried in parallel (RFC 8305 §5).
    package var nextAddress = Duration.milliseconds(250)
    /// The limit for the TLS handshake, from the first byte to the last.
    package var tls = Duration.seconds(5)
    /// If requests are open and nothing was received for this long, a PING checks whether the peer is alive (docs/contracts/apns.md#11.3).
    package var pingWhenSilent = Duration.seconds(10)
    /// The limit for the answer to a PING; after it, the connection is closed.
    package var pingAnswer = Duration.seconds(5)
    /// If no request is open and nothing was received for this long, a PING is sent, because NATs drop idle connections.
    package var pingWhenIdle = Duration.seconds(600)
    /// If no request was open for this long, the connection retires (`ConnectionChange.retired(.idle)`). Nil means never, which suits the last connection of a
    /// pool; for the others 60 minutes (docs/contracts/apns.md#13.6).
    package var idleClose: Duration?
    /// After this time the connection retires (`ConnectionChange.retired(.age)`) and finishes the open requests. Nil means never.
    ///
    /// docs/contracts/apns.md#13.6 has 24 h for production and 10 min for the sandbox. Apple wants connections to last hours or days.
    package var maxAge: Duration?
    /// A random share of `maxAge`, at most this one, is subtracted, so that connections that opened together do not retire together. 0...1; pushiko uses 0.1.
    package var maxAgeSpread = 0.1
    /// The limit for open streams to finish after `close()`, a GOAWAY or retirement; after it, the connection is closed with the streams still open.
    package var drain = Duration.seconds(30)
    /// TCP data that stays unacknowledged for this long ends the connection (`TCP_USER_TIMEOUT`). Zero keeps the system's default.
    package var tcpUser = Duration.seconds(20)
    /// The kernel probes a silent peer after this time (`TCP_KEEPIDLE`), so that NATs keep an idle connection and a dead one is noticed without a request.
    /// Unit: whole seconds. Zero keeps the system's default, two hours.
    package var tcpKeepAlive = Duration.seconds(60)

    /// Creates the defaults of docs/contracts/apns.md#13.6.
    package init() {}

    /// Ten years: longer than any connection lives, and far below the values at which clock arithmetic overflows.
    static let maxDuration = Duration.seconds(315_360_000)

    /// How long one connection may be open, with the spread subtracted; nil for no limit. `chance`, 0...1, is drawn at random for this connection.
    func lifetime(chance: Double) -> Duration? { maxAge.map { $0 * (1 - maxAgeSpread * chance) } }

    /// The same timeouts with every duration limited to 0...`maxDuration`.
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
