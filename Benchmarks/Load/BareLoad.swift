import HTTP2
import NIOConcurrencyHelpers

/// The HTTP/2 client alone. It keeps connections full from inside their reports, with requests whose bytes are prepared except for path and apns-id.
///
/// It encodes on the loop's thread, so that one pinned core runs the producer as well.
final class BareLoad: ConnectionObserver {
    private struct State {
        var counts = LoadCounts()
        var completed = 0
        var submitted = 0
        var batch = RequestBatch()
        var closed: HTTP2Error?
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let options: LoadOptions
    private let head: HeaderBlock
    private let body: [UInt8]
    private let state = NIOLockedValueBox(State())

    init(_ options: LoadOptions) throws {
        self.options = options
        head = try HeaderBlock(
            method: "POST",
            authority: "\(options.host):\(options.port)",
            fields: [
                (FieldName("apns-topic"), BenchPush.topic), (FieldName("apns-push-type"), "alert"),
                (FieldName("apns-priority"), "10"),
            ]
        )
        body = try BenchPush(bodyBytes: options.bodyBytes).encode()
    }

    /// Sends all requests.
    ///
    /// - Throws: the error that ended a connection.
    func run() async throws -> LoadCounts {
        let loop = try EventLoop(name: "bench")
        let roots: TrustRoots = options.trustRootsFile.isEmpty ? .system : .file(options.trustRootsFile)
        var configuration = ConnectionConfiguration(
            host: options.host,
            port: options.port,
            tls: try TLSContext(trustRoots: roots)
        )
        configuration.collectedFields = [BareLoad.apnsID]
        configuration.initialStreamLimit = 1
        configuration.limits.maxConcurrentStreams = options.streamLimit
        let authorization = try HeaderBlock(
            fields: [(FieldName("authorization", indexing: .never), options.authorization)]
        )
        let start = ContinuousClock.now
        await withCheckedContinuation { continuation in
            state.withLockedValue { $0.waiting = continuation }
            for _ in 0..<options.connectionCount {
                let connection = Connection(configuration, loop: loop, observer: self)
                connection.setDispatchFields(authorization)
                connection.open()
            }
        }
        let seconds = start.duration(to: .now).inSeconds
        loop.shutdown()
        if let error = state.withLockedValue({ $0.closed }) { throw error }
        var counts = state.withLockedValue { $0.counts }
        counts.seconds = seconds
        return counts
    }

    func connection(_ connection: Connection, reported report: borrowing ConnectionReport) {
        count(report)
        feed(connection)
    }

    private func count(_ report: borrowing ConnectionReport) {
        let completions = report.completions
        let changes = report.changes
        let finished: CheckedContinuation<Void, Never>? = state.withLockedValue { state in
            for completion in completions {
                switch completion.result {
                case .success(let response) where response.status == 200: state.counts.accepted += 1
                case .success(let response): state.counts.others["status \(response.status)", default: 0] += 1
                case .failure(let error): state.counts.others["\(error)", default: 0] += 1
                }
            }
            state.completed += completions.count
            for case .closed(let error) in changes where state.completed < options.requestCount {
                state.closed = error ?? HTTP2Error(.closed)
            }
            guard state.closed != nil || state.completed == options.requestCount else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        finished?.resume()
    }

    private func feed(_ connection: Connection) {
        let credits = connection.load.credits
        guard credits > 0 else { return }
        state.withLockedValue { state in
            let wanted = min(credits, options.requestCount - state.submitted)
            guard wanted > 0 else { return }
            let deadline = Moment(.now + .seconds(30))
            for index in 0..<wanted { encode(state.submitted + index, deadline, into: &state.batch) }
            // Only this object submits, so only SETTINGS can have reduced the credits; the requests that were not taken are encoded again.
            state.submitted += connection.submit(&state.batch)
            state.batch.removeAll()
        }
    }

    private func encode(_ number: Int, _ deadline: Moment, into batch: inout RequestBatch) {
        let addressee = options.tokenCount > 0 ? number % options.tokenCount : number
        batch.append(slot: UInt64(number), head: head, deadline: deadline) { writer in
            writer.path("/3/device/")
            let token = Addressee.token(addressee)
            writer.path(token.span)
            let id = Addressee.idText(number)
            writer.field(BareLoad.apnsID, id.span)
            writer.body(body)
        }
    }

    private static let apnsID = FieldName("apns-id", indexing: .nameOnce)
}
