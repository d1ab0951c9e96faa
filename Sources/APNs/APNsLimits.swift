/// Every bound of the APNs transport, each with the harm it avoids.
package struct APNsLimits: Sendable, Equatable {
    /// 10,000 pushes may wait per pool beyond what is in flight. An endpoint that is down would otherwise hold the payloads
    /// of a whole campaign (4 KiB each); above it pushes come back at once as `unsent(overloaded)`, so that the caller slows down.
    package var maxQueuedPushes = 10_000

    /// 8,192 pushes in flight per pool, the draining connections included: 8 connections with 900 streams and some behind them. Each keeps its
    /// payload and its batch in memory.
    package var maxPushesInFlight = 8_192

    /// 8 connections per pool (docs/contracts/apns.md#13.6). One carries 100,000 pushes per second without latency and `streams / latency` with it; more than
    /// a few from one sender look like an attack to Apple.
    package var maxConnections = 8

    /// 0 connections are kept open without anything to send, unless `APNsTransport.keepWarm` says otherwise: each costs Apple and us a socket.
    package var warmConnections = 0

    /// Half a second of waiting pushes and full connections, then one more is dialled. A burst that one round trip absorbs is no reason.
    package var growAfter = Duration.milliseconds(500)

    /// Half a second between dials of one pool beyond its first connection; Apple asks not to open many at once (docs/contracts/apns.md#11.4,
    /// docs/contracts/apns.md#13.6).
    package var dialSpacing = Duration.milliseconds(500)

    /// 64 pushes go to one connection before the next is looked for: several TLS records full, and still spread over the connections.
    package var dispatchQuantum = 64

    /// 3 times a push that was surely not processed is sent again on another connection; then it is the caller's. More would turn a peer
    /// that refuses everything into a busy loop.
    package var maxResends: UInt8 = 3

    /// 16 pushes of one batch leave before the next batch has its turn: long enough to share a header block, short enough that a
    /// campaign does not keep an urgent push waiting.
    package var fairQuantum = 16

    /// 512 header blocks are kept per (host, team, key). Topics come from tenants; above it the cache starts anew, which costs CPU only.
    package var maxHeaderBlocks = 512

    /// 10,000 credentials are open at once; each can hold a connection and a TLS context.
    package var maxCredentials = 10_000

    /// 64 different reasons are counted by name, the rest as `other`: reasons come from a peer and become metric labels.
    package var maxCountedReasons = 64

    /// 2 answers 500 in a row retire a connection: others saw it stay bad after one (docs/contracts/apns.md#14).
    package var maxServerErrorsInARow = 2

    /// How long a failed look-up of a provider token waits before the next while the old one still works; at most that without one.
    package var tokenRetry = Duration.seconds(5)

    /// The wait before a new connection after failures: full jitter below 1 s doubling to 60 s (docs/contracts/apns.md#13.6).
    package var backoff = ReconnectBackoff()

    package init() {}

    /// 64 bytes of a peer's reason are kept: it becomes a label.
    package static let maxReasonBytes = 64
    /// 1 hour at most is believed of a `retry-after`: a peer's typing error must not park a delivery for days.
    package static let maxRetryAfter = Duration.seconds(3_600)
}
