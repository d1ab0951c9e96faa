import GatewayHTTP
import Model
import NIOCore
import ServiceLifecycle

/// Sends the parts of one open page that have changed, as server-sent events, until the session ends.
///
/// A stream lasts a limited time, and the browser then opens the next one by itself. Each stream begins with every part of the page, so that a change between
/// two of them is not missed.
struct PageFollower: Sendable {
    /// The times of a stream.
    struct Limits: Sendable {
        /// 5 minutes: shorter than the time limit of common proxies. The page is read at least once, however short it is.
        var length = Duration.seconds(300)
        /// 12 s between checks of the session, and at most between lines that keep the connection open. With the time between questions and the age of a
        /// shared answer, a page that may not be seen any longer ends within 15 s.
        var heartbeat = Duration.seconds(12)
        /// Between questions for the page.
        var interval = LiveUpdates.interval
    }

    var limits = Limits()
    /// The last offset of the event log; nil: it cannot be read now.
    let head: @Sendable () async -> Int64?
    /// The page at an offset of the event log, not read before an instant; nil: it is not read yet.
    let page: @Sendable (_ head: Int64, _ since: ContinuousClock.Instant) async -> SharedPage.State?
    /// Whether the person may still see the page.
    let isOpen: @Sendable () async throws -> Bool

    /// Writes until the time is over, the session ends, the peer leaves or the node shuts down.
    ///
    /// - Throws: when the peer is gone.
    func run(into writer: inout ResponseStream.Writer) async throws {
        let began = ContinuousClock.now
        let end = began + limits.length
        var shown = 0
        var position: Int64 = -1
        var checked = began
        // 3 s until the browser connects again.
        try await writer.write(ByteBuffer(string: "retry: 3000\n\n"))
        repeat {
            position = await head() ?? position
            // The page is newer than what others have read before, such as after a change by this person.
            let state = await page(position, began)
            // However much the page changes: whoever may not see it any longer does not.
            if ContinuousClock.now - checked >= limits.heartbeat {
                guard try await isOpen() else {
                    return try await writer.write(ByteBuffer(string: "event: ended\ndata: {}\n\n"))
                }
                try await writer.write(ByteBuffer(string: ": \n\n"))
                checked = .now
            }
            if let state, state.version > shown {
                let events = state.events(after: shown)
                shown = state.version
                // Nothing is copied for a viewer, so that viewers who open a page, or take it slowly, need no memory of their own for it. All
                // together have the time of one part, so that a slow reader is checked, and ends, as early as another.
                try await writer.write(contentsOf: events)
            }
            try await Task.sleep(for: limits.interval)
        } while ContinuousClock.now < end && !Task.isShuttingDownGracefully && !Task.isCancelled
    }
}
