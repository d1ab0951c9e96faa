import GatewayHTTP
import Hummingbird
import Model
import NIOConcurrencyHelpers
import NIOCore
import Observability
import Outgoing

/// How the body of an upstream's answer reaches the caller.
enum ProxiedBody: Sendable {
    /// With its head: the whole body has been read.
    case whole
    /// Part by part.
    case stream(UpstreamStream)
}

/// The body of an upstream's answer on its way to the caller. At most one part is held: while the caller is slow, the upstream waits, and both end after the time
/// of the call (`OutgoingLimits.call`). A caller that leaves ends the call.
final class UpstreamStream: Sendable {
    /// The begin of the body, for a capture or an observation.
    private struct Tap: Sendable {
        var bytes: [UInt8] = []
        let limitBytes: Int
        let take: @Sendable (_ bytes: [UInt8], _ isComplete: Bool) -> Void

        mutating func add(_ part: ByteBuffer) {
            bytes += part.readableBytesView.prefix(max(0, limitBytes - bytes.count))
        }
    }

    private let body: OutgoingBody
    private let meter: UpstreamMeter
    private let tapped = NIOLockedValueBox<[Tap]>([])

    init(_ body: OutgoingBody, _ meter: UpstreamMeter) {
        self.body = body
        self.meter = meter
    }

    /// Passes the first `limitBytes` of the body to `take` when it ends, and whether it ended as it should. Called before `write`.
    func tap(limitBytes: Int, _ take: @escaping @Sendable (_ bytes: [UInt8], _ isComplete: Bool) -> Void) {
        tapped.withLockedValue { $0.append(Tap(limitBytes: limitBytes, take: take)) }
    }

    /// Writes the body. Called once.
    ///
    /// - Throws: when the upstream or the caller ends early. The connection of the caller then ends without the end of the body.
    func write(into writer: any ResponseBodyWriter, over channel: (any Channel)?) async throws {
        var isComplete = false
        defer { endTaps(isComplete) }
        do {
            try await ResponseStream(to: channel).run(into: writer) { writer in
                for try await part in body {
                    note(part)
                    try await writer.write(part)
                }
            }
            isComplete = true
            meter.ended(.complete)
        } catch {
            let isCancelled = (error as? OutgoingError) == .indeterminate(.cancelled)
            meter.ended(error is OutgoingError && !isCancelled ? .broken : .abandoned)
            throw error
        }
    }

    private func note(_ part: ByteBuffer) {
        tapped.withLockedValue { taps in
            for index in taps.indices { taps[index].add(part) }
        }
    }

    private func endTaps(_ isComplete: Bool) {
        for tap in tapped.withLockedValue({ $0 }) { tap.take(tap.bytes, isComplete) }
    }
}

/// Counts how a streamed answer ended, once, and releases its place. One that nobody read was abandoned.
final class UpstreamMeter: Sendable {
    enum End: Sendable, Hashable { case complete, broken, abandoned }

    private let counts: UpstreamCallCounts
    private let credential: CredentialKey
    private let kind: CallKind
    private let status: Int
    private let place: HeldPermit
    private let isOpen = NIOLockedValueBox(true)

    init(
        _ counts: UpstreamCallCounts,
        _ credential: CredentialKey,
        _ kind: CallKind,
        status: Int,
        _ place: HeldPermit
    ) {
        self.counts = counts
        self.credential = credential
        self.kind = kind
        self.status = status
        self.place = place
    }

    deinit { ended(.abandoned) }

    func ended(_ end: End) {
        let isFirst = isOpen.withLockedValue { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard isFirst else { return }
        place.release()
        switch end {
        case .complete: counts.count(credential, kind, .answered(status: status))
        case .broken: counts.count(credential, kind, .broken)
        case .abandoned: counts.count(credential, kind, .abandoned)
        }
    }
}
