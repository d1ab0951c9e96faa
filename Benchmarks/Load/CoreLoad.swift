import APNs
import ApplePayload
import FoundationEssentials
import HTTP2
import Model
import NIOConcurrencyHelpers

/// The APNs core from a sender's view: typed notifications in, typed outcomes out, through one credential.
struct CoreLoad: Sendable {
    /// 500 pushes per call, as many as a slice of the delivery engine has.
    static let batchCount = 500
    /// Batches in progress per connection. With 5, no stream is idle while a batch waits for its last answer.
    static let batchesPerConnection = 3

    private struct SystemClock: WallClock {
        func now() -> Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }
    }

    private static let credential = CredentialKey(tenant: "bench", credential: "bench")

    private let options: LoadOptions
    private let push: BenchPush
    /// Created before the measurement starts, as h2load reads its list of paths. Empty if every push has its own token.
    private let tokens: [DeviceToken]
    private let transport: APNsTransport
    /// The number of the next push.
    private let next = NIOLockedValueBox(0)

    /// Starts the transport's threads without dialling.
    ///
    /// - Throws: an error of a file, the key or the system.
    init(_ options: LoadOptions) throws {
        self.options = options
        push = try BenchPush(bodyBytes: options.bodyBytes)
        tokens = (0..<options.tokenCount).map { DeviceToken(stored: Addressee.tokenText($0)) }
        var configuration = APNsTransport.Configuration()
        configuration.connectionLimits.maxConcurrentStreams = options.streamLimit
        configuration.limits.maxConnections = options.connectionCount
        // Open all connections at once, as h2load does: the growth of the pool is not measured.
        configuration.limits.warmConnections = options.connectionCount
        configuration.limits.growAfter = .zero
        configuration.limits.dialSpacing = .zero
        transport = try APNsTransport(configuration: configuration, tokens: SelfSignedTokens(clock: SystemClock()))
    }

    // MARK: Ways of sending

    /// Sends batches.
    ///
    /// - Throws: the error of opening the credential.
    func runBatches() async throws -> LoadCounts {
        try await measure(taskCount: CoreLoad.batchesPerConnection * options.connectionCount) {
            var counts = LoadCounts()
            while let numbers = take(CoreLoad.batchCount) {
                await send(numbers.compactMap { makePush($0, slot: $0 - numbers.lowerBound) }, &counts)
            }
            return counts
        }
    }

    /// Sends from a list of all pushes in memory, stored as token and id, as fast as the core takes them.
    ///
    /// - Throws: the error of opening the credential.
    func runQueue() async throws -> LoadCounts {
        let queue = PushQueue(count: options.requestCount, push: push)
        let counts = NIOLockedValueBox(LoadCounts())
        let seconds = try await measure(taskCount: 1) {
            do {
                try await feed(
                    queue,
                    window: CoreLoad.batchCount * CoreLoad.batchesPerConnection * options.connectionCount
                ) { completions in
                    counts.withLockedValue { counts in
                        for completion in completions { counts.count(completion.outcome) }
                    }
                }
            } catch {
                counts.withLockedValue { $0.others["\(error)", default: 0] += 1 }
            }
            return LoadCounts()
        }.seconds
        return counts.withLockedValue { counts in
            counts.seconds = seconds
            return counts
        }
    }

    // MARK: Private

    /// Sends batch after batch, with at most `window` pushes unanswered.
    private func feed(
        _ batches: PushQueue,
        window: Int,
        completed: @escaping @Sendable ([PushCompletion]) -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            var unanswered = 0
            for try await batch in batches {
                while unanswered > 0, unanswered + batch.count > window, let answered = try await group.next() {
                    unanswered -= answered
                }
                unanswered += batch.count
                let stream = transport.send(batch, through: CoreLoad.credential, deadline: .seconds(30))
                group.addTask {
                    for await completions in stream { completed(completions) }
                    return batch.count
                }
            }
            for try await _ in group {}
        }
    }

    private func measure(
        taskCount: Int,
        _ work: @escaping @Sendable () async -> LoadCounts
    ) async throws -> LoadCounts {
        let running = Task { await transport.run() }
        let start = ContinuousClock.now
        try open()
        try await waitUntilOpen()
        var counts = await withTaskGroup(of: LoadCounts.self) { group in
            for _ in 0..<taskCount { group.addTask { await work() } }
            return await group.reduce(into: LoadCounts()) { $0.add($1) }
        }
        counts.seconds = start.duration(to: .now).inSeconds
        await transport.shutdown(deadline: .seconds(1))
        await running.value
        return counts
    }

    private func open() throws {
        let credential = APNsCredential(
            teamID: "TEAM123456",
            keyID: "ABCDE12345",
            privateKeyPEM: Array(try Data(contentsOf: URL(filePath: options.providerKeyFile))),
            endpoint: try APNsEndpoint(url: "https://\(options.host):\(options.port)"),
            trustRootsPEM: Array(try Data(contentsOf: URL(filePath: options.trustRootsFile)))
        )
        try transport.open(CoreLoad.credential, credential)
    }

    private var openConnectionCount: Int { transport.pools.reduce(0) { $0 + $1.metrics.openConnectionCount } }

    /// Waits for at most five seconds.
    private func waitUntilOpen() async throws {
        for _ in 0..<5_000 {
            if openConnectionCount >= options.connectionCount { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw LoadOptions.Invalid(description: "only \(openConnectionCount) connections were opened")
    }

    /// Takes up to `count` numbers that no other task gets; nil if all are taken.
    private func take(_ count: Int) -> Range<Int>? {
        next.withLockedValue { next in
            guard next < options.requestCount else { return nil }
            defer { next = min(next + count, options.requestCount) }
            return next..<min(next + count, options.requestCount)
        }
    }

    private func makePush(_ number: Int, slot: Int) -> Push? {
        let token =
            tokens.isEmpty ? DeviceToken(stored: Addressee.tokenText(number)) : tokens[number % tokens.count]
        return try? push.push(slot: slot, to: token, id: Addressee.id(number))
    }

    private func send(_ pushes: [Push], _ counts: inout LoadCounts) async {
        let answers = transport.send(pushes, through: CoreLoad.credential, deadline: .seconds(30))
        for await completions in answers { for completion in completions { counts.count(completion.outcome) } }
    }
}
