/// All limits of the APNs transport, each with the harm it prevents.
package struct APNsLimits: Sendable, Equatable {
    /// 10,000 pushes may wait per pool in addition to those in flight. Without the limit, an endpoint that is down would keep the payloads of a whole campaign
    /// in memory (4 KiB each). Above it, pushes come back at once as `unsent(overloaded)`, so that the caller slows down.
    package var maxQueuedPushes = 10_000

    /// 8,192 pushes in flight per pool, including the draining connections: 8 connections with 900 streams each, and some queued. Each keeps its payload and
    /// its batch in memory.
    package var maxPushesInFlight = 8_192

    /// 8 connections per pool (docs/contracts/apns.md#13.6). One carries 100,000 pushes per second without latency, and `streams / latency` with it. To Apple,
    /// more than a few from one sender look like an attack.
    package var maxConnections = 8

    /// 0 connections are kept open while nothing is sent, unless `APNsTransport.keepWarm` sets another number: each costs Apple and us a socket.
    package var warmConnections = 0

    /// If pushes have waited for half a second while all connections were full, another connection is dialled. A burst that ends within one round trip does not
    /// need one.
    package var growAfter = Duration.milliseconds(500)

    /// Half a second between the dials of one pool after its first connection. Apple asks senders not to open many at once (docs/contracts/apns.md#11.4,
    /// docs/contracts/apns.md#13.6).
    package var dialSpacing = Duration.milliseconds(500)

    /// 64 pushes go to one connection before the next one is chosen: they fill several TLS records and still spread over the connections.
    package var dispatchQuantum = 64

    /// A push that was certainly not processed is sent again on another connection up to 3 times; then the caller decides. With more, a peer that refuses
    /// everything would cause a busy loop.
    package var maxResends: UInt8 = 3

    /// 16 pushes of one batch are sent before the next batch has its turn: enough to share a header block, and few enough that a campaign does not delay an
    /// urgent push.
    package var fairQuantum = 16

    /// 512 header blocks are kept per (host, team, key). Topics come from tenants; above the limit the cache is emptied, which costs only CPU.
    package var maxHeaderBlocks = 512

    /// 10,000 credentials may be open at once; each can hold a connection and a TLS context.
    package var maxCredentials = 10_000

    /// 64 different reasons are counted by name, the others as `other`: reasons come from a peer and become metric labels.
    package var maxCountedReasons = 64

    /// Two consecutive answers with status 500 retire a connection: others observed that it can stay bad after one (docs/contracts/apns.md#14).
    package var maxServerErrorsInARow = 2

    /// How long to wait after a failed look-up of a provider token before the next one, while the old token still works; without a working token, this is the
    /// longest wait.
    package var tokenRetry = Duration.seconds(5)

    /// The wait before a new connection after failures: full jitter below a limit that doubles from 1 s to 60 s (docs/contracts/apns.md#13.6).
    package var backoff = ReconnectBackoff()

    package init() {}

    /// 64 bytes of a peer's reason are kept, because it becomes a label.
    package static let maxReasonBytes = 64
    /// At most 1 hour of a `retry-after` is accepted: a mistake of the peer must not delay a delivery for days.
    package static let maxRetryAfter = Duration.seconds(3_600)
}
